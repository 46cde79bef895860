# RUN: %fsdpc dump --stage=recompute %s | grep recomputed | sed 's/ [0-9]*:[0-9]*:[0-9]*-.*//'
# RUN: %fsdpc dump --stage=recompute -s 'shard.recompute=(keep = tanh)' %s | grep recomputed | sed 's/ [0-9]*:[0-9]*:[0-9]*-.*//'
# A path selects modules whose activations are recomputed, except for ops that `keep` names.
==== m.fsd
module Part { l : Linear(4, 4); forward(x) = tanh(relu(tanh(l(x)))) }
module Net {
  part : Part[3]
  e : Embedding(5, 4)
  forward(ids: [B, T]) { x = e(ids); for p in part { x = p(x) }; return x }
}
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { "part.1" = recompute; "part.1" = unit }
==== out
  #31 %30: f32[4, 3, 4] = linear(%10, %11) !backward recomputed "part.1.l"
  #32 %31: f32[4, 3, 4] = tanh(%30) !backward recomputed "part.1"
  #33 %32: f32[4, 3, 4] = relu(%31) !backward recomputed "part.1"
  #31 %30: f32[4, 3, 4] = relu(%13) !backward recomputed "part.1"
