# RUN: %fsdpc dump --stage=comm -n 2 -s shard.bucket=1000 net.fsd | sed -n '/^program train/,/^end/s/.*#[0-9]* %[0-9]*: \(.*\) = \(reduce_scatter\|all_reduce\)(.*axes.*tag = gradient.*/\2 \1/p'
# A bucket has one dtype and one way of being split; what differs is in buckets of its own.
==== net.fsd
module U { w : param[4, 4] = normal(0.5); n : param[4] = ones @f32; b : param[2] = zeros
  forward(x) = layer_norm(linear(x, w), n) + sum(b) }
module Net { e : Embedding(4, 4); u : U[3]
  forward(ids: [B, S]) { x = e(ids)
    for l in u { x = l(x) }
    return x } }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1); precision = bf16(reduce = bf16) }
shard { unit = U; "*.b" = replicate }
==== out
reduce_scatter f32[2], %108: f32[2], %109: f32[2]
all_reduce bf16[2], %112: bf16[2], %113: bf16[2]
reduce_scatter bf16[8], %118: bf16[8], %119: bf16[8], %120: bf16[8]
