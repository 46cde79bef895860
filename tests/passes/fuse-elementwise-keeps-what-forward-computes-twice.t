# RUN: %fsdpc dump --stage=fuse_elementwise %s | grep '^formula 0'
# RUN: %fsdpc compile -q %s -o %t/plan.bin && %fsdpc check %t/plan.bin
# What the model computes twice is two steps of forward's formula, each with a gradient of its own.
==== net.fsd
module Net {
  w : param[4, 4] = normal(0.5)
  f : param[4] = normal(0.5) @frozen
  forward(x: [B, F]) {
    y = linear(x, w)
    return sqrt(1 + (y * f) * (y * f)) + y
  }
}
model = Net
data  { train = synthetic(x = [4], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 2 }
==== out
formula 0 operands 2: f32 mul(x0, x1); f32 mul(x0, x1); f32 mul(t0, t1); f32 constant(1); f32 add(t2, t3); f32 sqrt(t4); f32 add(t5, x0) -> y0
