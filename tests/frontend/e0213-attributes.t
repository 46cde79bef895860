# RUN: %fsdpc dump --stage=model %s
# An unknown attribute suggests the nearest.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : param[2] = zeros @no_decy
  b : param[2] = zeros @frozen(3)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0213]: there is no attribute @no_decy
 --> m.fsd:5:24
  |
5 |   a : param[2] = zeros @no_decy
  |                        ^^^^^^^^
  |
  = help: did you mean `no_decay`?

error[E0213]: @frozen takes no arguments
 --> m.fsd:6:24
  |
6 |   b : param[2] = zeros @frozen(3)
  |                        ^^^^^^^^^^

==== exit 1
