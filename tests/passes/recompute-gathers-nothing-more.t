# RUN: %fsdpc dump --stage=comm -n 2 -s shard.recompute=In %s | sed -n '/^program train/,/^end/p' | grep -cE '= unshard'
# RUN: %fsdpc dump --stage=comm -n 2 %s | sed -n '/^program train/,/^end/p' | grep -cE '= unshard'
# RUN: %fsdpc dump --stage=recompute -s shard.recompute=In %s | grep recomputed | sed 's/ [0-9]*:[0-9]*:[0-9]*-.*//'
# An embedding's backward does not read its weight, so the embedding is not repeated: that would
# gather it again. What only it makes possible to repeat is kept, too.
==== m.fsd
module In {
  e : Embedding(5, 6)
  n : LayerNorm(6, 1e-5)
  a : Linear(6, 7)
  forward(ids: [B, T]) = relu(a(relu(n(relu(e(ids))))))
}
module Net {
  i : In
  head : Linear(7, 5)
  forward(ids) = head(i(ids))
}
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = [Embedding, Linear] }
==== out
6
6
  #23 %24: f32[4, 3, 6], %25: f32[4, 3], %26: f32[4, 3] = layer_norm(%6, %7, %8) {eps = 1e-05} !backward recomputed "i.n"
  #24 %27: f32[4, 3, 6] = relu(%24) !backward recomputed "i"
==== err
note[W0404]: not gathered for backward, which does not read their parameters: i.e

note[W0404]: not gathered for backward, which does not read their parameters: i.e

