# RUN: %fsdpc dump --stage=shard -n 2 net.fsd 2>&- | grep -oE '^group.*params [0-9]+'
# A glob gathers a bias, or what @f32 keeps, in f8e4m3, or a matrix in another dtype than the rest;
# what @f32 keeps is read in f32, and what every rank holds is not quantized.
==== net.fsd
module Net {
  a, b, c, d : Linear(8, 8, bias = true)
  kept : param[8, 8] = normal(0.1) @f32
  forward(x) = linear(d(c(b(a(x)))), kept)
}
model = Net
data  { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5); precision = bf16 }
shard { unit = Linear; gather = f8e4m3; "a.bias" = gather(f8e4m3); "b.*" = gather(f16); "c.*" = replicate
        "kept" = gather(f8e4m3) }
==== out
group 0 unit 0 trainable master f32 compute bf16 reduce f32 wire f8e4m3 params 1
group 1 unit 1 trainable master f32 compute f16 reduce f32 params 3
group 2 unit 2 trainable master f32 compute bf16 reduce f32 params 5
group 3 unit 3 trainable master f32 compute bf16 reduce f32 wire f8e4m3 params 7
group 4 unit 3 trainable master f32 compute bf16 reduce f32 params 8
group 5 unit 4 trainable master f32 compute f32 reduce f32 wire f8e4m3 params 0
