# RUN: %fsdpc dump --stage=comm -n 2 net.fsd | sed -n '/^program train/,/^end/s/.*#[0-9]* %[0-9]*: \(.*\) = \(unshard\|reduce_scatter\).*/\2 \1/p'
# Frozen bf16 next to trained f32, norms in f32: one gather carries both dtypes, and no unit is split off.
==== net.fsd
module U { w : param[4, 4] = normal(0.5) @frozen; n : param[4] = ones @f32; forward(x) = layer_norm(linear(x, w), n) }
module Net { e : Embedding(4, 4); u : U; forward(ids: [B, S]) = u(e(ids)) }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1); precision = bf16 }
shard { unit = U }
==== out
unshard bf16[16]
unshard bf16[16], %14: f32[4]
unshard bf16[16], %26: f32[4]
reduce_scatter f32[2]
reduce_scatter f32[8]
