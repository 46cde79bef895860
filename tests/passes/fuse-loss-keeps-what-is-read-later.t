# RUN: %fsdpc opt --pass=fuse_loss %s
# A loss whose log-sum-exp is read behind its gradient too stays apart from its gradient.
==== in.graph
graph train
mesh dp = 1
policy loss_exponent = -3
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
  #4 %4: i64[24], %5: f32[2, 3] = cross_entropy(%0, %3) {ignore = -100} !forward -
  #5 set_state(%4) {index = 2} !forward -
  #6 %6: f32[2, 3, 5] = cross_entropy_grad(%0, %3, %5) {ignore = -100, exponent = -3} !backward -
  #7 set_grad(%6) {index = 0} !backward -
  #8 %7: f32[2, 3] = relu(%5) !backward -
end
program eval
  #9 %8: f32[2, 3, 5] = param {index = 0} !forward -
  #10 %9: f64[16] = state {index = 0} !forward -
  #11 %10: u8[2, 1024] = state {index = 1} !forward -
  #12 %11: i32[2, 3] = field(%10, %9) {index = 0} !forward -
  #13 %12: i64[24], %13: f32[2, 3] = cross_entropy(%8, %11) {ignore = -100} !forward -
  #14 set_state(%12) {index = 3} !forward -
end
==== out
graph train
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
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
  #4 %4: i64[24], %5: f32[2, 3] = cross_entropy(%0, %3) {ignore = -100} !forward -
  #5 set_state(%4) {index = 2} !forward -
  #6 %6: f32[2, 3, 5] = cross_entropy_grad(%0, %3, %5) {ignore = -100, exponent = -3} !backward -
  #7 set_grad(%6) {index = 0} !backward -
  #8 %7: f32[2, 3] = relu(%5) !backward -
end
program eval
  #9 %8: f32[2, 3, 5] = param {index = 0} !forward -
  #10 %9: f64[16] = state {index = 0} !forward -
  #11 %10: u8[2, 1024] = state {index = 1} !forward -
  #12 %11: i32[2, 3] = field(%10, %9) {index = 0} !forward -
  #13 %12: i64[24], %13: f32[2, 3] = cross_entropy(%8, %11) {ignore = -100} !forward -
  #14 set_state(%12) {index = 3} !forward -
end
