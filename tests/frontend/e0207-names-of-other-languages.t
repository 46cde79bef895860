# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# For names of other languages, the message gives their names here.
==== m.fsd
config { D = 4; V = 8 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids) {
    x = self.wte(ids)
    y = torch.relu(wte(ids))
    for i in range(2) { y = y }
    z = reshape(y)
    print(z)
    u = Dropout(y)
    return head(xx)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
error[E0207]: there is no name `self` here
 --> m.fsd:6:9
  = help: fields have no prefix: wte(ids)
error[E0207]: there is no name `torch` here
 --> m.fsd:7:9
  = help: call functions without a prefix: relu(..)
error[E0207]: there is no function or module `reshape` here
 --> m.fsd:9:9
  = help: write x as [B, T, H, D // H]
error[E0207]: there is no function or module `print` here
  --> m.fsd:10:5
   = help: a model cannot print; `fsdpc dump` shows the model, `--log` its training
error[E0207]: there is no function or module `Dropout` here
  --> m.fsd:11:9
   = help: dropout is a function: dropout(x, 0.1)
error[E0207]: there is no name `xx` here
  --> m.fsd:12:17
   = help: did you mean `x`?
==== exit 1
