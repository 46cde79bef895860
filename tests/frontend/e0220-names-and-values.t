# RUN: %fsdpc dump --stage=model %s
# The left side has as many names as there are values.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    a, b = split(wte(ids) as [B, T, 3, 2], axis = 2)
    c, d = wte(ids)
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0220]: 2 names cannot take 3 values
 --> m.fsd:6:5
  |
6 |     a, b = split(wte(ids) as [B, T, 3, 2], axis = 2)
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

error[E0220]: 2 names cannot take one value
 --> m.fsd:7:5
  |
7 |     c, d = wte(ids)
  |     ^^^^^^^^^^^^^^^

==== exit 1
