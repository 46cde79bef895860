# RUN: %fsdpc opt --pass=fuse_packed_attention,grad,precision,wrap,shard,optimizer %s
# The passes up to the update one after the other, on one rank.
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
graph shard
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
param 0 "weight" module 0 f32[7, 3] ones key "weight" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
state 4 param "param" f32[21] group 0
state 5 scale "scale" f64[8]
field 0 "x" f32[4, 3] staging 0
field 1 "targets" i32[4] staging 256
unit 0 "" Net modules 0 groups 0 below 21 owned 21 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 21 padded 21 shard 21
program train
  #0 %0: f64[16] = state {index = 0} !forward unit 0 -
  #1 %1: u8[2, 1024] = state {index = 1} !forward unit 0 -
  #2 %2: f32[4, 3] = field(%1, %0) {index = 0} !forward unit 0 -
  #3 %3: i32[4] = field(%1, %0) {index = 1} !forward unit 0 -
  #4 %4: f32[7, 3] = param {index = 0} !forward unit 0 -
  #5 %5: f32[4, 7] = linear(%2, %4) !forward unit 0 -
  #6 %6: i64[24], %7: f32[4] = cross_entropy(%5, %3) {ignore = -100} !forward unit 0 -
  #7 set_state(%6) {index = 2} !forward unit 0 -
  #8 %8: f32[4, 7] = cross_entropy_grad(%5, %3, %7) {ignore = -100, exponent = -3} !backward unit 0 -
  #9 %9: f32[7, 3] = linear_grad_weight(%8, %2) !backward unit 0 -
  #10 %10: f32[21] = gradient(%9) {group = 0} !backward unit 0 -
  #11 %11: i64[24] = grad_norm(%10) {group = 0} !update -
  #12 %12: f64[8] = step_scale(%6, %11, %0) {exponent = -3, on_nan = stop, clip = 0} !update -
  #13 set_state(%12) {index = 5} !update -
  #14 %13: f32[21] = state {index = 4} !update -
  #15 %14: f32[21] = sgd(%13, %10, %12, %0) {group = 0, weight_decay = 0, clip_value = 0} !update -
  #16 set_state(%14) {index = 4} !update -
end
program eval
end
