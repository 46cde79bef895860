# RUN: %fsdpc opt --pass=grad,precision %s | grep '!backward'
# Every partial sum of a parameter's gradient has its dtype, shared activations' gradients keep theirs.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3, compute_dtype = bf16
module 0 "" Net
param 0 "w0" module 0 f32[5, 3] ones key "w0" compute f32 reduce f32
param 1 "g" module 0 f32[5] ones key "g" compute f32 reduce f32
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
  #6 %6: f32[5] = param {index = 1} !forward -
  #7 %7: f32[4, 5], %8: f32[4] = rms_norm(%5, %6) {eps = 1e-05} !forward "n1"
  #8 %9: f32[4, 5], %10: f32[4] = rms_norm(%7, %6) {eps = 1e-05} !forward "n2"
  #9 %11: i64[24], %12: f32[4] = cross_entropy(%9, %3) {ignore = -100} !forward -
  #10 set_state(%11) {index = 2} !forward -
end
program eval
end
==== out
  #11 %13: bf16[4, 5] = cross_entropy_grad(%9, %3, %12) {ignore = -100, exponent = -3} !backward -
  #12 %14: f32[5] = rms_norm_grad_weight(%13, %7, %10) !backward "n2"
  #13 %15: bf16[4, 5] = rms_norm_grad_input(%13, %7, %6, %10) !backward "n2"
  #14 %16: f32[5] = rms_norm_grad_weight(%15, %5, %8) !backward "n1"
  #15 %17: f32[5] = add(%14, %16) !backward "n1"
  #16 set_grad(%17) {index = 1} !backward -
  #17 %18: bf16[4, 5] = rms_norm_grad_input(%15, %5, %6, %8) !backward "n1"
  #18 %19: f32[5, 3] = linear_grad_weight(%18, %2) !backward -
  #19 set_grad(%19) {index = 0} !backward -
