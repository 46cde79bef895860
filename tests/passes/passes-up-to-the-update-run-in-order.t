# RUN: %fsdpc opt --pass=fuse_packed_attention,grad,precision,optimizer %s
# The passes of levels model and train one after the other, on one rank.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
param 0 "weight" module 0 f32[7, 3] ones key "weight" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "x" f32[4, 3] staging 0
field 1 "targets" i32[4] staging 256
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: f32[4, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: i32[4] = field(%1, %0) {index = 1} !forward -
  #4 %4: f32[7, 3] = param {index = 0} !forward -
  #5 %5: f32[4, 7] = linear(%2, %4) !forward -
  #6 %6: i64[24], %7: f32[4] = cross_entropy(%5, %3) {ignore = -100} !forward -
  #7 set_state(%6) {index = 2} !forward -
end
program eval
end
==== out
graph train
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
param 0 "weight" module 0 f32[7, 3] ones key "weight" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
state 4 scale "scale" f64[8]
field 0 "x" f32[4, 3] staging 0
field 1 "targets" i32[4] staging 256
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: f32[4, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: i32[4] = field(%1, %0) {index = 1} !forward -
  #4 %4: f32[7, 3] = param {index = 0} !forward -
  #5 %5: f32[4, 7] = linear(%2, %4) !forward -
  #6 %6: i64[24], %7: f32[4] = cross_entropy(%5, %3) {ignore = -100} !forward -
  #7 set_state(%6) {index = 2} !forward -
  #8 %8: f32[4, 7] = cross_entropy_grad(%5, %3, %7) {ignore = -100, exponent = -3} !backward -
  #9 %9: f32[7, 3] = linear_grad_weight(%8, %2) !backward -
  #10 set_grad(%9) {index = 0} !backward -
  #11 %10: i64[24] = grad_norm(%9) {group = -1} !update -
  #12 %11: f64[8] = step_scale(%6, %10, %0) {exponent = -3, on_nan = stop, clip = 0} !update -
  #13 set_state(%11) {index = 4} !update -
  #14 %12: f32[7, 3] = master {index = 0} !update -
  #15 %13: f32[7, 3] = sgd(%12, %9, %11, %0) {index = 0, group = -1, weight_decay = 0, clip_value = 0} !update -
  #16 set_param(%13) {index = 0} !update -
end
program eval
end
