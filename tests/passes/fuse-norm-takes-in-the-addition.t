# RUN: %fsdpc opt --pass=fuse_norm %s
# A norm of a sum becomes one op with the sum, which stays for its other readers, in both programs.
==== in.graph
graph train
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
module 1 "ln" LayerNorm parent 0
param 0 "a" module 0 f32[2, 3, 5] ones key "a" compute bf16 reduce f32 frozen
param 1 "b" module 0 f32[2, 3, 5] ones key "b" compute bf16 reduce f32 frozen
param 2 "ln.weight" module 1 f32[5] ones key "ln.weight" compute bf16 reduce f32 frozen
param 3 "ln.bias" module 1 f32[5] ones key "ln.bias" compute bf16 reduce f32 frozen
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: bf16[2, 3, 5] = param {index = 0} !forward -
  #1 %1: bf16[2, 3, 5] = param {index = 1} !forward -
  #2 %2: bf16[2, 3, 5] = add(%0, %1) !forward -
  #3 %3: bf16[5] = param {index = 2} !forward "ln"
  #4 %4: bf16[5] = param {index = 3} !forward "ln"
  #5 %5: bf16[2, 3, 5], %6: f32[2, 3], %7: f32[2, 3] = layer_norm(%2, %3, %4) {eps = 1e-05} !forward "ln"
  #6 %8: bf16[2, 3, 5] = add(%2, %5) !forward -
  #7 %9: f64[16] = state {index = 0} !forward -
  #8 %10: u8[2, 1024] = state {index = 1} !forward -
  #9 %11: i32[2, 3] = field(%10, %9) {index = 0} !forward -
  #10 %12: i64[24], %13: f32[2, 3] = cross_entropy(%8, %11) {ignore = -100} !forward -
  #11 set_state(%12) {index = 2} !forward -
end
program eval
  #12 %14: bf16[2, 3, 5] = param {index = 0} !forward -
  #13 %15: bf16[2, 3, 5] = param {index = 1} !forward -
  #14 %16: bf16[2, 3, 5] = add(%14, %15) !forward -
  #15 %17: bf16[5] = param {index = 2} !forward "ln"
  #16 %18: bf16[2, 3, 5], %19: f32[2, 3], %20: f32[2, 3] = layer_norm(%16, %17) {eps = 1e-05} !forward "ln"
  #17 %21: bf16[2, 3, 5] = add(%16, %18) !forward -
  #18 %22: f64[16] = state {index = 0} !forward -
  #19 %23: u8[2, 1024] = state {index = 1} !forward -
  #20 %24: i32[2, 3] = field(%23, %22) {index = 0} !forward -
  #21 %25: i64[24], %26: f32[2, 3] = cross_entropy(%21, %24) {ignore = -100} !forward -
  #22 set_state(%25) {index = 3} !forward -
end
==== out
graph train
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
module 1 "ln" LayerNorm parent 0
param 0 "a" module 0 f32[2, 3, 5] ones key "a" compute bf16 reduce f32 frozen
param 1 "b" module 0 f32[2, 3, 5] ones key "b" compute bf16 reduce f32 frozen
param 2 "ln.weight" module 1 f32[5] ones key "ln.weight" compute bf16 reduce f32 frozen
param 3 "ln.bias" module 1 f32[5] ones key "ln.bias" compute bf16 reduce f32 frozen
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: bf16[2, 3, 5] = param {index = 0} !forward -
  #1 %1: bf16[2, 3, 5] = param {index = 1} !forward -
  #2 %2: bf16[5] = param {index = 2} !forward "ln"
  #3 %3: bf16[5] = param {index = 3} !forward "ln"
  #4 %4: bf16[2, 3, 5], %5: bf16[2, 3, 5], %6: f32[2, 3], %7: f32[2, 3] = add_layer_norm(%0, %1, %2, %3) {eps = 1e-05} !forward "ln"
  #5 %8: bf16[2, 3, 5] = add(%4, %5) !forward -
  #6 %9: f64[16] = state {index = 0} !forward -
  #7 %10: u8[2, 1024] = state {index = 1} !forward -
  #8 %11: i32[2, 3] = field(%10, %9) {index = 0} !forward -
  #9 %12: i64[24], %13: f32[2, 3] = cross_entropy(%8, %11) {ignore = -100} !forward -
  #10 set_state(%12) {index = 2} !forward -
end
program eval
  #11 %14: bf16[2, 3, 5] = param {index = 0} !forward -
  #12 %15: bf16[2, 3, 5] = param {index = 1} !forward -
  #13 %16: bf16[5] = param {index = 2} !forward "ln"
  #14 %17: bf16[2, 3, 5], %18: bf16[2, 3, 5], %19: f32[2, 3], %20: f32[2, 3] = add_layer_norm(%14, %15, %16) {eps = 1e-05} !forward "ln"
  #15 %21: bf16[2, 3, 5] = add(%17, %18) !forward -
  #16 %22: f64[16] = state {index = 0} !forward -
  #17 %23: u8[2, 1024] = state {index = 1} !forward -
  #18 %24: i32[2, 3] = field(%23, %22) {index = 0} !forward -
  #19 %25: i64[24], %26: f32[2, 3] = cross_entropy(%21, %24) {ignore = -100} !forward -
  #20 set_state(%25) {index = 3} !forward -
end
