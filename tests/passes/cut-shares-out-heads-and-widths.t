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
