# RUN: %fsdpc dump --stage=model %s
# A method that returns nothing is an error.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0221]: `Net.forward` returns nothing
 --> m.fsd:5:3
  |
5 |   forward(ids: [B, T]) {
  |   ^^^^^^^
  |
  = help: end the method with `return`

==== exit 1
