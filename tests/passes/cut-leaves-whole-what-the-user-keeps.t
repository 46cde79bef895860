# RUN: %fsdpc dump --stage=cut %s | grep '^param' | sed 's/ module.* f32/ f32/; s/ normal.* reduce f32//'
# "glob" = whole(tp): no rank shares out these parameters, nor what an op ties to them.
==== net.fsd
module MLP {
  up   : Linear(8, 20)
  down : Linear(20, 8)
  forward(x) = down(relu(up(x)))
}
module Net {
  e    : Embedding(32, 8)
  a, b : MLP
  o    : Linear(8, 32)
  forward(ids: [B, T]) = o(b(a(e(ids))))
}
model = Net
data  { train = synthetic_tokens(32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 2); "a.up.*" = whole(tp) }
==== out
param 0 "e.weight" f32 cut (tp) dim 0 outer 1 size 32
param 1 "a.up.weight" f32 uncut
param 2 "a.down.weight" f32 cut (tp) dim 0 outer 1 size 8
param 3 "b.up.weight" f32 cut (tp) dim 1 outer 1 size 8
param 4 "b.down.weight" f32 cut (tp) dim 0 outer 1 size 8
param 5 "o.weight" f32 cut (tp) dim 1 outer 1 size 8
