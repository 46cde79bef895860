# RUN: %fsdpc opt --pass=fuse_packed_attention %s
# Split and attention become one op in both programs, with the attention's path and attributes.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 3, 4, 5] ones key "x" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[2, 3, 3, 4, 5] = param {index = 0} !forward -
  #4 %4: f32[2, 3, 4, 5], %5: f32[2, 3, 4, 5], %6: f32[2, 3, 4, 5] = split(%3) {axis = 2} !forward "attn"
  #5 %7: f32[2, 3, 4, 5], %8: f32[2, 4, 3] = attention(%4, %5, %6) {causal = true, alpha = 0.5} !forward "attn"
  #6 %9: f32[2, 3, 20] = reshape(%7) !forward -
  #7 %10: i64[24], %11: f32[2, 3] = cross_entropy(%9, %2) {ignore = -100} !forward -
  #8 set_state(%10) {index = 2} !forward -
end
program eval
  #9 %12: f64[16] = state {index = 0} !forward -
  #10 %13: u8[2, 1024] = state {index = 1} !forward -
  #11 %14: i32[2, 3] = field(%13, %12) {index = 0} !forward -
  #12 %15: f32[2, 3, 3, 4, 5] = param {index = 0} !forward -
  #13 %16: f32[2, 3, 4, 5], %17: f32[2, 3, 4, 5], %18: f32[2, 3, 4, 5] = split(%15) {axis = 2} !forward "attn"
  #14 %19: f32[2, 3, 4, 5], %20: f32[2, 4, 3] = attention(%16, %17, %18) {causal = true, alpha = 0.5} !forward "attn"
  #15 %21: f32[2, 3, 20] = reshape(%19) !forward -
  #16 %22: i64[24], %23: f32[2, 3] = cross_entropy(%21, %14) {ignore = -100} !forward -
  #17 set_state(%22) {index = 3} !forward -
end
==== out
graph model
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 3, 4, 5] ones key "x" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[2, 3, 3, 4, 5] = param {index = 0} !forward -
  #4 %4: f32[2, 3, 4, 5], %5: f32[2, 4, 3] = attention_packed(%3) {causal = true, alpha = 0.5} !forward "attn"
  #5 %6: f32[2, 3, 20] = reshape(%4) !forward -
  #6 %7: i64[24], %8: f32[2, 3] = cross_entropy(%6, %2) {ignore = -100} !forward -
  #7 set_state(%7) {index = 2} !forward -
end
program eval
  #8 %9: f64[16] = state {index = 0} !forward -
  #9 %10: u8[2, 1024] = state {index = 1} !forward -
  #10 %11: i32[2, 3] = field(%10, %9) {index = 0} !forward -
  #11 %12: f32[2, 3, 3, 4, 5] = param {index = 0} !forward -
  #12 %13: f32[2, 3, 4, 5], %14: f32[2, 4, 3] = attention_packed(%12) {causal = true, alpha = 0.5} !forward "attn"
  #13 %15: f32[2, 3, 20] = reshape(%13) !forward -
  #14 %16: i64[24], %17: f32[2, 3] = cross_entropy(%15, %11) {ignore = -100} !forward -
  #15 set_state(%16) {index = 3} !forward -
end
