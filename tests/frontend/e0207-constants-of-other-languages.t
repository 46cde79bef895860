# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# For constants and initial values of other languages, the message gives their names here.
==== m.fsd
config { D = 4; V = 8; B = True; C = None; E = math.sqrt(D) }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V, bias = True)
  w : param[D] = uniform(0.1)
  forward(ids) = head(wte(ids))
}
model = Net
data { train = text(book.txt); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; clip = None; on_nan = Stop }
==== out
error[E0207]: there is no name `True` here
 --> m.fsd:1:28
  = help: write true
error[E0207]: there is no name `None` here
 --> m.fsd:1:38
  = help: write none
error[E0207]: there is no name `math` here
 --> m.fsd:1:48
  = help: call functions without a prefix: sqrt(..)
error[E0207]: there is no name `True` here
 --> m.fsd:4:30
  = help: write true
error[E0207]: there is no function or module `uniform` here
 --> m.fsd:5:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0209]: a name has no field `txt`
 --> m.fsd:9:21
  = help: write the name of a file in double quotes
error[E0310]: train.clip must be a number or none, not a name
  --> m.fsd:10:84
   = help: write none
error[E0313]: train.on_nan cannot be `Stop`
  --> m.fsd:10:99
   = help: did you mean `stop`?
==== exit 1
