# RUN: %fsdpc dump --format=json -n 2 t.fsd 2>&- | %python %root/tests/passes/sizes.py; %fsdpc dump --stage=sched -n 2 t.fsd 2>&- | grep -oE 'f32\[[0-9]+\] @[0-9]+ = pack' | sed 's/ @[0-9]*//'
# Only biases are trained (like LoRA's factors): gathers contain everything, gradients and reductions only the biases.
==== t.fsd
module Unit(inp, out) {
  w : param[out, inp] = normal(0.02) @frozen
  b : param[out] = zeros
  forward(x) = relu(linear(x, w, b))
}
module T { u0 : Unit(4, 6); u1 : Unit(6, 8); u2 : Unit(8, 10)
  w : param[2, 10] = normal(0.02) @frozen
  b : param[2] = zeros
  forward(x: [B, 4]) = linear(u2(u1(u0(x))), w, b) }
model = T
data  { train = synthetic(x = [4], y = [2], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Unit; align = none }
==== out
AG 15 28 45 11 | 45 28
RS 1 5 4 3
f32[2] = pack
f32[10] = pack
f32[8] = pack
f32[6] = pack
