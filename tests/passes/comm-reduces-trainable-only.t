# RUN: %fsdpc dump --stage=comm -n 3 -s shard.align=none %s | sed -n '/^program train/,/^end/s/.*#[0-9]* %[0-9]*: \(.*\) = \(unshard\|reduce_scatter\).*/\2 \1/p'
# If only biases are trained, reductions contain only biases, gathers everything.
==== net.fsd
module U(n) { w : param[n, n] = zeros @frozen; b : param[n] = zeros; forward(x) = relu(linear(x, w, b)) }
module Unused(n) { w : param[n, n] = zeros @frozen; b : param[n] = zeros @frozen; forward(x) = relu(linear(x, w, b)) }
module Net {
  e : param[3, 3] = zeros @frozen
  u0 : U(3)
  u1 : U(3)
  u2 : U(3)
  forward(ids: [B, S]) = u2(u1(u0(gather(e, ids))))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = [U]; prefetch = 0 }
==== out
unshard f32[9]
unshard f32[9], %16: f32[3]
unshard f32[9], %23: f32[3]
unshard f32[9], %30: f32[3]
unshard f32[9], %39: f32[3]
reduce_scatter f32[1]
unshard f32[9], %48: f32[3]
reduce_scatter f32[1]
reduce_scatter f32[1]
==== err
note[W0404]: not gathered for backward, which does not read their parameters: u0

