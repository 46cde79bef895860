# RUN: for T in 1048576 67108864; do %fsdpc compile -q -s data.length=$T %s -o p && %fsdpc dump --raw p | grep -o "= attention.*flops [0-9]*" | sed 's/(.*flops//'; done
# RUN: %fsdpc fit --memory 80GiB %s | grep -o "^fits\|^longest data.length"
# Attention of 2^20 positions takes more than 2^54 operations, its gradient at 2^26 more than 2^66. 64 ranks share them out; those of the rank that sees the most pairs are counted.
==== long.fsd
config { D = 4096 }
module Net {
  emb : Embedding(64, D)
  qkv : Linear(D, 3 * D)
  head : Linear(D, 64)
  forward(ids: [B, T]) {
    q, k, v = split(qkv(emb(ids)) as [B, T, 3, 32, 128], axis = 2)
    return head(attention(q, k, v, causal = true) as [B, T, D])
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 64); length = 1048576 }
train { loss = cross_entropy(model(inputs), targets); batch = 1; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 1, cp = 64) }
==== out
= attention 283639776542720
= attention_grad 704735752486912
= attention 283639776542720
= attention 1161787975097384960
= attention_grad 2886596276588118016
= attention 1161787975097384960
fits
longest data.length
