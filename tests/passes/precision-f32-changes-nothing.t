# RUN: for p in grad grad,precision; do %fsdpc opt --pass=$p %s > $p.txt; done; cmp grad.txt grad,precision.txt
# In f32 the graph behind the pass is the graph before it.
==== in.graph
graph model
mesh dp = 2
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, align = 16
policy micro_batches = 1, batch = 4, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
param 0 "a.weight" module 0 f32[5, 3] ones key "a.weight" compute f32 reduce f32
param 1 "a.bias" module 0 f32[5] ones key "a.bias" compute f32 reduce f32
param 2 "ln.weight" module 0 f32[5] ones key "ln.weight" compute f32 reduce f32
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
  #4 %4: f32[5, 3] = param {index = 0} !forward -
  #5 %5: f32[5] = param {index = 1} !forward -
  #6 %6: f32[4, 5] = linear(%2, %4, %5) !forward "a"
  #7 %7: f32[5] = param {index = 2} !forward -
  #8 %8: f32[4, 5], %9: f32[4], %10: f32[4] = layer_norm(%6, %7) {eps = 1e-05} !forward "ln"
  #9 %11: i64[24], %12: f32[4] = cross_entropy(%8, %3) {ignore = -100} !forward -
  #10 set_state(%11) {index = 2} !forward -
end
program eval
  #11 %13: f64[16] = state {index = 0} !forward -
  #12 %14: u8[2, 1024] = state {index = 1} !forward -
  #13 %15: f32[4, 3] = field(%14, %13) {index = 0} !forward -
  #14 %16: i32[4] = field(%14, %13) {index = 1} !forward -
  #15 %17: f32[5, 3] = param {index = 0} !forward -
  #16 %18: f32[5] = param {index = 1} !forward -
  #17 %19: f32[4, 5] = linear(%15, %17, %18) !forward "a"
  #18 %20: f32[5] = param {index = 2} !forward -
  #19 %21: f32[4, 5], %22: f32[4], %23: f32[4] = layer_norm(%19, %20) {eps = 1e-05} !forward "ln"
  #20 %24: i64[24], %25: f32[4] = cross_entropy(%21, %16) {ignore = -100} !forward -
  #21 set_state(%24) {index = 3} !forward -
end
