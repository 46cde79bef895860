# RUN: %fsdpc opt --pass=fuse_norm %s
# A sum that something reads in front of the norm stays where it is.
==== in.graph
graph train
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
module 1 "ln" LayerNorm parent 0
param 0 "a" module 0 f32[2, 3, 5] ones key "a" compute f32 reduce f32 frozen
param 1 "ln.weight" module 1 f32[5] ones key "ln.weight" compute f32 reduce f32 frozen
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f32[2, 3, 5] = param {index = 0} !forward -
  #1 %1: f32[5] = param {index = 1} !forward "ln"
  #2 %2: f32[2, 3, 5] = add(%0, %0) !forward -
  #3 %3: f32[2, 3, 5] = relu(%2) !forward -
  #4 %4: f32[2, 3, 5], %5: f32[2, 3], %6: f32[2, 3] = layer_norm(%2, %1) {eps = 1e-05} !forward "ln"
  #5 %7: f32[2, 3, 5] = add(%3, %4) !forward -
  #6 %8: f64[16] = state {index = 0} !forward -
  #7 %9: u8[2, 1024] = state {index = 1} !forward -
  #8 %10: i32[2, 3] = field(%9, %8) {index = 0} !forward -
  #9 %11: i64[24], %12: f32[2, 3] = cross_entropy(%7, %10) {ignore = -100} !forward -
  #10 set_state(%11) {index = 2} !forward -
end
==== out
graph train
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
module 1 "ln" LayerNorm parent 0
param 0 "a" module 0 f32[2, 3, 5] ones key "a" compute f32 reduce f32 frozen
param 1 "ln.weight" module 1 f32[5] ones key "ln.weight" compute f32 reduce f32 frozen
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f32[2, 3, 5] = param {index = 0} !forward -
  #1 %1: f32[5] = param {index = 1} !forward "ln"
  #2 %2: f32[2, 3, 5] = add(%0, %0) !forward -
  #3 %3: f32[2, 3, 5] = relu(%2) !forward -
  #4 %4: f32[2, 3, 5], %5: f32[2, 3], %6: f32[2, 3] = layer_norm(%2, %1) {eps = 1e-05} !forward "ln"
  #5 %7: f32[2, 3, 5] = add(%3, %4) !forward -
  #6 %8: f64[16] = state {index = 0} !forward -
  #7 %9: u8[2, 1024] = state {index = 1} !forward -
  #8 %10: i32[2, 3] = field(%9, %8) {index = 0} !forward -
  #9 %11: i64[24], %12: f32[2, 3] = cross_entropy(%7, %10) {ignore = -100} !forward -
  #10 set_state(%11) {index = 2} !forward -
end
