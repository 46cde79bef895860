# RUN: %fsdpc compile -q %s -o %t/plan
# RUN: %fsdpc check %t/plan && %fsdpc dump --stage=place %s | grep "^param" | grep -o "f32.* cut.*"
# Rows of an odd vocabulary are shared out where a formula makes the table: where all of its operands end in padding,
# which is 0, so does its result.
==== net.fsd
module Net {
  e : param[3, 7, 6] = normal(0.5)
  h : param[7, 6] = normal(0.5)
  forward(ids: [B, T]) = linear(tanh(gather(e[0] + e[2] - 0.5 * e[1], ids)), h)
}
model = Net
data  { train = synthetic_tokens(vocab = 7); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 10; steps = 3; optimizer = sgd(lr = 0.02) }
shard { mesh = (tp = 4) }
==== out
f32[3, 2, 6] normal(0.5) key "e" checkpoint "e" compute f32 reduce f32 cut (tp) dim 1 outer 1 size 7
f32[2, 6] normal(0.5) key "h" checkpoint "h" compute f32 reduce f32 cut (tp) dim 0 outer 1 size 7
