# RUN: %fsdpc dump --stage=cut %s | grep '^param' | sed 's/ module.* f32/ f32/; s/ normal.* reduce f32//'
# RUN: %fsdpc dump --stage=place %s | grep -o 'f32.* = dropout(.* !forward\|i32.* = iota.* !forward'
# Heads and inner widths are shared out whether or not something between two products is dropped: a kernel knows which
# part of the whole it has.
==== net.fsd
module Block {
  n1, n2 : RMSNorm(8)
  qkv  : Linear(8, 24)
  proj : Linear(8, 8)
  up   : Linear(8, 20)
  down : Linear(20, 8)
  forward(x: [B, T, D]) {
    q, k, v = split(dropout(qkv(n1(x)), 0.1) as [B, T, 3, 4, 2], axis = 2)
    x += proj(dropout(attention(rope(q), rope(k), v, causal = true), 0.1) as [B, T, D])
    return x + dropout(down(dropout(relu(up(n2(x))), 0.1)), 0.1)
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
shard { mesh = (dp = 2, tp = 2) }
==== out
param 0 "e.weight" f32 cut (tp) dim 0 outer 1 size 32
param 1 "h.n1.weight" f32 no_decay
param 2 "h.n2.weight" f32 no_decay
param 3 "h.qkv.weight" f32 cut (tp) dim 0 outer 3 size 4
param 4 "h.proj.weight" f32 cut (tp) dim 1 outer 1 size 4
param 5 "h.up.weight" f32 cut (tp) dim 0 outer 1 size 20
param 6 "h.down.weight" f32 cut (tp) dim 1 outer 1 size 20
param 7 "o.weight" f32 cut (tp) dim 0 outer 1 size 32
f32[2, 6, 3x4*tp] = dropout(%12, %0) {salt = 0, p = 0.1} !forward
f32[2, 6, 2*tp, 2] = dropout(%20, %0) {salt = 1, p = 0.1} !forward
f32[2, 6, 10*tp] = dropout(%34, %0) {salt = 2, p = 0.1} !forward
f32[2, 3*tp, 8] = dropout(%38, %0) {salt = 3, p = 0.1} !forward
