# RUN: %fsdpc dump --stage=model %s
# An unknown class suggests the nearest.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : Lineer(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0217]: there is no module `Lineer`
 --> m.fsd:5:7
  |
5 |   a : Lineer(D, V)
  |       ^^^^^^
  |
  = help: did you mean `Linear`?

==== exit 1
