# RUN: %fsdpc dump --stage=model %s
# An array has a positive length.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : Linear(D, D)[0]
  b : Linear(D, D)[2, 3]
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0215]: an array needs one length from 1 to 200000, not 0
 --> m.fsd:5:19
  |
5 |   a : Linear(D, D)[0]
  |                   ^^^

error[E0215]: an array needs one length from 1 to 200000
 --> m.fsd:6:19
  |
6 |   b : Linear(D, D)[2, 3]
  |                   ^^^^^^

==== exit 1
