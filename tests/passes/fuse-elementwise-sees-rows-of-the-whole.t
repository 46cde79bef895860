# RUN: %fsdpc compile -q %s -o %t/plan.bin && %fsdpc check %t/plan.bin
# RUN: %fsdpc compile -q -s train.batch=2 %s -o %t/plan.bin && %fsdpc check %t/plan.bin
# RUN: %fsdpc dump --stage=fuse_elementwise -s train.batch=2 %s | grep -o "\(sum_to\|sqrt_grad\|mean_grad\)("
# One position a rank: a number per sample looks like one per row. What backward computes again of such numbers has their shape (batch = 4), and a sum over positions is not one along a row (batch = 2).
==== net.fsd
module M {
  f : param[2, 33] = normal(0.5)
  forward(x) {
    y = sin(silu(x)) + f
    return y / (1 + sqrt(mean(y * y, axis = [1, 2])))
  }
}
module Net {
  e : Embedding(7, 33)
  m : M
  forward(ids: [B, T]) = linear(m(e(ids)), e.weight)
}
model = Net
data  { train = synthetic_tokens(vocab = 7); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
shard { mesh = (cp = 2, dp = 2); unit = root }
==== out
sum_to(
sqrt_grad(
mean_grad(
