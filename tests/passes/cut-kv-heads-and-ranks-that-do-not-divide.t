# RUN: for tp in 3 6 8; do %fsdpc dump --stage=cut %s -s "shard.mesh=(tp = $tp)" 2>&1 || true; done
# KV heads and ranks along tp of which neither number divides the other; heads that cannot be shared
# out among the ranks with the same KV head.
==== net.fsd
module Net {
  e : Embedding(32, 8)
  q : Linear(8, 24)
  k : Linear(8, 8)
  v : Linear(8, 8)
  o : Linear(24, 32)
  forward(ids: [B, T]) {
    x = e(ids)
    y = attention(q(x) as [B, T, 12, 2], k(x) as [B, T, 4, 2], v(x) as [B, T, 4, 2], causal = true)
    return o(y as [B, T, 24])
  }
}
model = Net
data  { train = synthetic_tokens(32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
error[E0406]: tp = 3: 4 KV heads of the model: one must divide the other
 --> net.fsd:9:9
  |
9 |     y = attention(q(x) as [B, T, 12, 2], k(x) as [B, T, 4, 2], v(x) as [B, T, 4, 2], causal = true)
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: use a number of ranks that divides the number of KV heads, or a multiple of it that divides the number of heads

error[E0406]: tp = 6: 4 KV heads of the model: one must divide the other
 --> net.fsd:9:9
  |
9 |     y = attention(q(x) as [B, T, 12, 2], k(x) as [B, T, 4, 2], v(x) as [B, T, 4, 2], causal = true)
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: use a number of ranks that divides the number of KV heads, or a multiple of it that divides the number of heads

error[E0406]: tp = 8: 12 heads of the model cannot be shared out
 --> net.fsd:9:9
  |
9 |     y = attention(q(x) as [B, T, 12, 2], k(x) as [B, T, 4, 2], v(x) as [B, T, 4, 2], causal = true)
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: use a number of ranks that divides the number of heads

