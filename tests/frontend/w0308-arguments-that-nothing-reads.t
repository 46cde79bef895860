# RUN: %fsdpc dump --stage=model %s > graph
# An argument of a module that nothing in it reads has no effect: here D is that of the config.
==== m.fsd
config { D = 4 }
module MLP(width, _spare = 1, depth = 2) {
  up : Linear(D, depth * D)
  down : Linear(depth * D, D)
  forward(x) = down(relu(up(x)))
}
module Net {
  emb : Embedding(11, D)
  mlp : MLP(8)
  forward(ids) = linear(mlp(emb(ids)), emb.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
warning[W0308]: nothing in module MLP reads its argument `width`
 --> m.fsd:2:12
  |
2 | module MLP(width, _spare = 1, depth = 2) {
  |            ^^^^^

