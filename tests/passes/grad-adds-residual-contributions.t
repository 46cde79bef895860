# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# A value with two readers gets the sum of both gradients, in the order in which they come.
==== in.graph
graph model
mesh dp = 2
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, align = 16
policy micro_batches = 1, batch = 4, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
param 0 "w0" module 0 f32[5, 3] ones key "w0" compute f32 reduce f32
param 1 "w1" module 0 f32[5, 5] ones key "w1" compute f32 reduce f32
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
  #5 %5: f32[4, 5] = linear(%2, %4) !forward -
  #6 %6: f32[5, 5] = param {index = 1} !forward -
  #7 %7: f32[4, 5] = linear(%5, %6) !forward "f"
  #8 %8: f32[4, 5] = add(%5, %7) !forward -
  #9 %9: i64[24], %10: f32[4] = cross_entropy(%8, %3) {ignore = -100} !forward -
  #10 set_state(%9) {index = 2} !forward -
end
program eval
  #11 %11: f64[16] = state {index = 0} !forward -
  #12 %12: u8[2, 1024] = state {index = 1} !forward -
  #13 %13: f32[4, 3] = field(%12, %11) {index = 0} !forward -
  #14 %14: i32[4] = field(%12, %11) {index = 1} !forward -
  #15 %15: f32[5, 3] = param {index = 0} !forward -
  #16 %16: f32[4, 5] = linear(%13, %15) !forward -
  #17 %17: f32[5, 5] = param {index = 1} !forward -
  #18 %18: f32[4, 5] = linear(%16, %17) !forward "f"
  #19 %19: f32[4, 5] = add(%16, %18) !forward -
  #20 %20: i64[24], %21: f32[4] = cross_entropy(%19, %14) {ignore = -100} !forward -
  #21 set_state(%20) {index = 3} !forward -
end
==== out
  #11 %11: f32[4, 5] = cross_entropy_grad(%8, %3, %10) {ignore = -100, exponent = -3} !backward -
  #12 %12: f32[5, 5] = linear_grad_weight(%11, %5) !backward "f"
  #13 set_grad(%12) {index = 1} !backward -
  #14 %13: f32[4, 5] = linear_grad_input(%11, %6) !backward "f"
  #15 %14: f32[4, 5] = add(%11, %13) !backward "f"
  #16 %15: f32[5, 3] = linear_grad_weight(%14, %2) !backward -
  #17 set_grad(%15) {index = 0} !backward -
