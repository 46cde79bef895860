# RUN: %fsdpc opt --pass=fuse_loss %root/tests/passes/loss.graph
# The loss of program train and its gradient become one op of the forward phase; eval keeps its loss.
==== out
graph train
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
module 1 "ln" LayerNorm parent 0
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f32[2, 3, 5] = param {index = 0} !forward -
  #1 %1: f64[16] = state {index = 0} !forward -
  #2 %2: u8[2, 1024] = state {index = 1} !forward -
  #3 %3: i32[2, 3] = field(%2, %1) {index = 0} !forward -
  #4 %4: f32[2, 3, 5], %5: i64[24] = cross_entropy_both(%0, %3) {ignore = -100, exponent = -3} !forward -
  #5 set_state(%5) {index = 2} !forward -
  #6 set_grad(%4) {index = 0} !backward -
end
program eval
  #7 %6: f32[2, 3, 5] = param {index = 0} !forward -
  #8 %7: f64[16] = state {index = 0} !forward -
  #9 %8: u8[2, 1024] = state {index = 1} !forward -
  #10 %9: i32[2, 3] = field(%8, %7) {index = 0} !forward -
  #11 %10: i64[24], %11: f32[2, 3] = cross_entropy(%6, %9) {ignore = -100} !forward -
  #12 set_state(%10) {index = 3} !forward -
end
