# RUN: %fsdpc dump --stage=comm -n 2 -s 'train.precision=bf16' -s 'train.optimizer=adamw(lr = 0.1)' %s | grep -E '^(group|state [5-9]|state 1)|= adam'
# Parameters of a unit that differ in compute dtype or in being trained are groups of their own;
# the frozen one has no moments and no update.
==== net.fsd
module M {
  a : param[2, 3] = zeros
  n : param[2] = ones @f32
  b : param[2, 2] = zeros @frozen
  forward(x) = linear(layer_norm(linear(x, a), n), b)
}
module Net {
  e : param[3, 3] = zeros
  m : M
  forward(ids: [B, S]) = m(gather(e, ids))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = M }
==== out
policy micro_batches = 1, batch = 24, compute_dtype = bf16, reduce_dtype = f32, optimizer = adamw, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0.01, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -6
state 1 staging "staging" u8[2, 384]
state 5 param "param.m.1" f32[1] group 1
state 6 param "param.m.2" f32[2] group 2
state 7 param "param" f32[5] group 3
state 8 scale "scale" f64[8]
state 9 moment1 "m.m" f32[3] group 0
state 10 moment2 "v.m" f32[3] group 0
state 11 moment1 "m.m.1" f32[1] group 1
state 12 moment2 "v.m.1" f32[1] group 1
state 13 moment1 "m" f32[5] group 3
state 14 moment2 "v" f32[5] group 3
group 0 unit 0 trainable master f32 compute bf16 reduce f32 params 1@0 unpadded 6 padded 6 shard 3 split (dp)
group 1 unit 0 trainable master f32 compute f32 reduce f32 params 2@0 unpadded 2 padded 2 shard 1 split (dp)
group 2 unit 0 frozen master f32 compute bf16 reduce f32 params 3@0 unpadded 4 padded 4 shard 2 split (dp)
group 3 unit 1 trainable master f32 compute bf16 reduce f32 params 0@0 unpadded 10 padded 10 shard 5 split (dp)
  #55 %62: f32[3], %63: f32[3], %64: f32[3] = adam(%0, %60, %61, %45, %59, %6) {group = 0, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.01, clip_value = 0} !update "m" 1:9:3-9:4
  #61 %67: f32[1], %68: f32[1], %69: f32[1] = adam(%1, %65, %66, %46, %59, %6) {group = 1, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.01, clip_value = 0} !update "m" 1:9:3-9:4
  #67 %72: f32[5], %73: f32[5], %74: f32[5] = adam(%3, %70, %71, %50, %59, %6) {group = 3, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.01, clip_value = 0} !update - 1:12:9-12:12
