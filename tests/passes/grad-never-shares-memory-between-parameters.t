# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# One gradient for two parameters is copied: each lives in its own place of a flat gradient.
==== in.graph
graph model
mesh dp = 2
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, align = 16
policy micro_batches = 1, batch = 4, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
param 0 "a" module 0 f32[4, 7] ones key "a" compute f32 reduce f32
param 1 "b" module 0 f32[4, 7] ones key "b" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[4] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[4] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[4, 7] = param {index = 0} !forward -
  #4 %4: f32[4, 7] = param {index = 1} !forward -
  #5 %5: f32[4, 7] = add(%3, %4) !forward -
  #6 %6: i64[24], %7: f32[4] = cross_entropy(%5, %2) {ignore = -100} !forward -
  #7 set_state(%6) {index = 2} !forward -
end
program eval
  #8 %8: f64[16] = state {index = 0} !forward -
  #9 %9: u8[2, 1024] = state {index = 1} !forward -
  #10 %10: i32[4] = field(%9, %8) {index = 0} !forward -
  #11 %11: f32[4, 7] = param {index = 0} !forward -
  #12 %12: f32[4, 7] = param {index = 1} !forward -
  #13 %13: f32[4, 7] = add(%11, %12) !forward -
  #14 %14: i64[24], %15: f32[4] = cross_entropy(%13, %10) {ignore = -100} !forward -
  #15 set_state(%14) {index = 3} !forward -
end
==== out
  #8 %8: f32[4, 7] = cross_entropy_grad(%5, %2, %7) {ignore = -100, exponent = -3} !backward -
  #9 %9: f32[4, 7] = scale(%8) {alpha = 1} !backward -
  #10 set_grad(%9) {index = 1} !backward -
  #11 %10: f32[4, 7] = scale(%8) {alpha = 1} !backward -
  #12 set_grad(%10) {index = 0} !backward -
