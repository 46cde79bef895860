# RUN: net() { %fsdpc compile -q --mesh $m "$@" net.fsd -o p && %fsdp-run -q --threads 1 --log log --save w p && grep -o '"\(loss\|grad_norm\)":[^,}]*' log | cat - w | md5sum; }; for m in tp=2 tp=3 cp=3,tp=2; do (net; net -s 'shard.recompute=(ops = [embedding])'; net -s shard.recompute=M; net -s shard.recompute=Net) | uniq | wc -l; done
# What is computed again reads the same terms of sums over ranks as before, and gradients read the same sums: whichever
# reader of a sum needs all of it first, recomputation changes no bit.
==== net.fsd
module M {
  f : param[5] = normal(0.5)
  forward(x: [B, T, 5]) = x / (2 + abs(f)) + tanh(x)
}
module Net {
  e : Embedding(11, 5)
  a : param[5, 5] = normal(0.5)
  m : M
  forward(ids: [B, T]) {
    x = e(ids)
    y = m(x) + x * x + linear(x, a)
    return linear(y, e.weight)
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 11); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 2; optimizer = adamw(lr = 0.01)
        precision = bf16 }
shard { unit = root }
==== out
1
1
1
