# RUN: %fsdpc dump --stage=model %s
# A module that contains itself is an error.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : A
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
module A { b : C }
module C { a : A }
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0218]: module A contains itself
  --> m.fsd:11:12
   |
11 | module C { a : A }
   |            ^
   |
   = help: use an array to repeat a module: blocks : Block[4]

==== exit 1
