# RUN: %fsdpc dump --stage=model %s 2>&1 | sed 's/must be .*/must be .. (ops with column LOSS)/'
# A loss that is a tensor is an error.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); val = tokens("t.bin"); length = 8 }
train { loss = model(inputs); metric = [accuracy(model(inputs), targets), accuracy(model(inputs), targets)] }
==== out
error[E0225]: train.loss must be .. (ops with column LOSS)
  --> m.fsd:11:16
   |
11 | train { loss = model(inputs); metric = [accuracy(model(inputs), targets), accuracy(model(inputs), targets)] }
   |                ^^^^^^^^^^^^^
   |
   = help: take the mean of all its elements: mean(..)

==== exit 1
