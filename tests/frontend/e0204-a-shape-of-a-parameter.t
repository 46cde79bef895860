# RUN: %fsdpc dump --stage=model %s
# An argument that does not fit the shape of its parameter is an error there.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  run(x: [B, T, V]) = x
  forward(ids: [B, T]) {
    return head(run(wte(ids)))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0204]: `x` must be [B, T, V], but it is [B, T, D]: V = 11 (line 1), D = 6 (line 1)
 --> m.fsd:7:21
  |
7 |     return head(run(wte(ids)))
  |                     ^^^^^^^^
note: declared here
 --> m.fsd:5:7
  |
5 |   run(x: [B, T, V]) = x
  |       ^

==== exit 1
