# RUN: %fsdpc dump --stage=cut %s | grep '^param' | sed 's/ module.* f32/ f32/; s/ normal.* reduce f32//; s/ zeros.* reduce f32//; s/ ones.* reduce f32//'
# Ranks along tp share out the heads of attention, as three runs of packed rows, and the inner width;
# a norm sees whole rows, and a bias is added to a sum over ranks once.
==== net.fsd
module Block {
  norm : LayerNorm(8)
  qkv  : Linear(8, 24, bias = true)
  proj : Linear(8, 8, bias = true)
  up   : Linear(8, 20)
  gate : Linear(8, 20)
  down : Linear(20, 8)
  forward(x: [B, T, D]) {
    y = norm(x)
    q, k, v = split(qkv(y) as [B, T, 3, 4, 2], axis = 2)
    x += proj(attention(q, k, v, causal = true) as [B, T, D])
    return x + down(silu(gate(x)) * up(x))
  }
}
module Net {
  e : Embedding(32, 8)
  h : Block
  o : Linear(8, 32)
  forward(ids) = o(h(e(ids)))
}
model = Net
data  { train = synthetic_tokens(32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 2, tp = 4) }
==== out
param 0 "e.weight" f32 cut (tp) dim 0 outer 1 size 32
param 1 "h.norm.weight" f32 no_decay
param 2 "h.norm.bias" f32 no_decay
param 3 "h.qkv.weight" f32 cut (tp) dim 0 outer 3 size 4
param 4 "h.qkv.bias" f32 cut (tp) dim 0 outer 3 size 4
param 5 "h.proj.weight" f32 cut (tp) dim 1 outer 1 size 4
param 6 "h.proj.bias" f32
param 7 "h.up.weight" f32 cut (tp) dim 0 outer 1 size 20
param 8 "h.gate.weight" f32 cut (tp) dim 0 outer 1 size 20
param 9 "h.down.weight" f32 cut (tp) dim 1 outer 1 size 20
param 10 "o.weight" f32 cut (tp) dim 0 outer 1 size 32
