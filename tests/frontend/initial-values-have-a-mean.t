# RUN: %fsdpc dump --stage=model %s | grep -o '^param .* key' | tee %t/graph
# RUN: %fsdpc compile -q %s -s train.batch=2 -s train.steps=1 -o %t/plan && %fsdpc dump --raw %t/plan | grep -o 'normal([^)]*)'
# One number is the standard deviation, two are mean and standard deviation, as in PyTorch.
==== m.fsd
module Net {
  a : param[8] = normal(0.02)
  b : param[8] = normal(0, 0.02)
  c : param[8] = normal(-1, 0.5)
  d : param[8] = normal(2, std = 0.5)
  e : param[8] = normal(std = 0.5)
  table : Embedding(8, 8, init = normal(1, 0))
  forward(ids) = linear(table(ids) + a + b + c + d + e, table.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
param 0 "a" module 0 1:2:3-2:4 f32[8] normal(0.02) key
param 1 "b" module 0 1:3:3-3:4 f32[8] normal(0.02) key
param 2 "c" module 0 1:4:3-4:4 f32[8] normal(-1, 0.5) key
param 3 "d" module 0 1:5:3-5:4 f32[8] normal(2, 0.5) key
param 4 "e" module 0 1:6:3-6:4 f32[8] normal(0.5) key
param 5 "table.weight" module 1 2:8:3-8:9 f32[8, 8] normal(1, 0) key
normal(0.02)
normal(0.02)
normal(-1, 0.5)
normal(2, 0.5)
normal(0.5)
normal(1, 0)
