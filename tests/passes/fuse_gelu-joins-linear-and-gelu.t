# RUN: %fsdpc opt --pass=fuse_gelu %s | grep 'program\|linear\|gelu\|add\|cross'
# In both programs, where the linear stood and with its path; with a bias and without.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f32 reduce f32
param 1 "w" module 0 f32[7, 5] ones key "w" compute f32 reduce f32
param 2 "b" module 0 f32[7] ones key "b" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[2, 3, 5] = param {index = 0} !forward -
  #4 %4: f32[7, 5] = param {index = 1} !forward -
  #5 %5: f32[7] = param {index = 2} !forward -
  #6 %6: f32[2, 3, 7] = linear(%3, %4, %5) !forward "mlp.c_fc"
  #7 %7: f32[2, 3, 7] = gelu(%6) {approx = tanh} !forward "mlp"
  #8 %8: i64[24], %9: f32[2, 3] = cross_entropy(%7, %2) {ignore = -100} !forward -
  #9 set_state(%8) {index = 2} !forward -
end
program eval
  #20 %20: f64[16] = state {index = 0} !forward -
  #21 %21: u8[2, 1024] = state {index = 1} !forward -
  #22 %22: i32[2, 3] = field(%21, %20) {index = 0} !forward -
  #23 %23: f32[2, 3, 5] = param {index = 0} !forward -
  #24 %24: f32[7, 5] = param {index = 1} !forward -
  #25 %26: f32[2, 3, 7] = linear(%23, %24) !forward "mlp.c_fc"
  #26 %27: f32[2, 3, 7] = gelu(%26) {approx = erf} !forward "mlp"
  #27 %28: i64[24], %29: f32[2, 3] = cross_entropy(%27, %22) {ignore = -100} !forward -
  #28 set_state(%28) {index = 3} !forward -
end
==== out
program train
  #6 %6: f32[2, 3, 7], %7: f32[2, 3, 7] = linear_gelu(%3, %4, %5) {approx = tanh} !forward "mlp.c_fc"
  #7 %8: i64[24], %9: f32[2, 3] = cross_entropy(%6, %2) {ignore = -100} !forward -
program eval
  #14 %15: f32[2, 3, 7], %16: f32[2, 3, 7] = linear_gelu(%13, %14) {approx = erf} !forward "mlp.c_fc"
  #15 %17: i64[24], %18: f32[2, 3] = cross_entropy(%15, %12) {ignore = -100} !forward -
