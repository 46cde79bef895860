# RUN: %fsdpc dump --stage=model %s | sed '/^program eval/,$d'
# The smallest model: every table, and program train.
==== m.fsd
module Tok {
  fc : Embedding(5, 5)
  forward(x) = fc(x)
}
model = Tok
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
graph model
file 1 "m.fsd" 72813eeb0e68c073
file 2 "std.fsd" 626a9fa8569cb5e1
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = adamw, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0.01, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -2
module 0 "" Tok 1:5:9-5:12
module 1 "fc" Embedding parent 0 1:2:3-2:5
param 0 "fc.weight" module 1 2:8:3-8:9 f32[5, 5] normal(0.02) key "fc.weight" checkpoint "fc.weight" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 128]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "inputs" i32[1, 3] staging 0
field 1 "targets" i32[1, 3] staging 64
program train
  #0 %0: f64[16] = state {index = 0} !forward - 1:6:16-6:29
  #1 %1: u8[2, 128] = state {index = 1} !forward - 1:6:16-6:29
  #2 %2: i32[1, 3] = field(%1, %0) {index = 0} !forward - 1:6:16-6:29
  #3 %3: i32[1, 3] = field(%1, %0) {index = 1} !forward - 1:6:16-6:29
  #4 %4: f32[5, 5] = param {index = 0} !forward "fc" 1:3:16-3:21
  #5 %5: f32[1, 3, 5] = embedding(%4, %2) !forward "fc" 1:3:16-3:21
  #6 %6: i64[24], %7: f32[1, 3] = cross_entropy(%5, %3) {ignore = -100} !forward - 1:7:16-7:53
  #7 set_state(%6) {index = 2} !forward - 1:7:16-7:53
end
