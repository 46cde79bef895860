# RUN: %fsdpc dump --stage=cut %s
# Heads that ranks cannot share out evenly are an error at the attention.
==== net.fsd
module Net {
  e    : Embedding(32, 6)
  norm : LayerNorm(6)
  qkv  : Linear(6, 18)
  o    : Linear(6, 32)
  forward(ids: [B, T]) {
    q, k, v = split(qkv(norm(e(ids))) as [B, T, 3, 3, 2], axis = 2)
    return o(attention(q, k, v, causal = true) as [B, T, 6])
  }
}
model = Net
data  { train = synthetic_tokens(32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 1, tp = 2) }
==== err
error[E0406]: tp = 2: 3 heads of the model cannot be shared out
 --> net.fsd:8:14
  |
8 |     return o(attention(q, k, v, causal = true) as [B, T, 6])
  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: use a number of ranks that divides the number of heads

==== exit 1
