# RUN: %fsdpc opt --pass=pad %s | grep 'linear\|cross\|reshape\|relu'
# So do rows of f16 logits: 515 elements are 576 apart.
==== in.graph
graph train
mesh dp = 1
policy loss_exponent = -3, compute_dtype = f16
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f16 reduce f32
param 1 "w" module 0 f32[515, 5] ones key "w" compute f16 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f16[2, 3, 5] = param {index = 0} !forward -
  #4 %4: f16[515, 5] = param {index = 1} !forward -
  #5 %5: f16[2, 3, 515] = linear(%3, %4) !forward "head"
  #6 %6: i64[24], %7: f32[2, 3] = cross_entropy(%5, %2) {ignore = -100} !forward -
  #7 set_state(%6) {index = 2} !forward -
  #8 %8: f16[2, 3, 515] = cross_entropy_grad(%5, %2, %7) {ignore = -100, exponent = -3} !backward -
  #9 %9: f32[515, 5] = linear_grad_weight(%8, %3) !backward "head"
  #10 set_grad(%9) {index = 1} !backward "head"
  #11 %10: f16[2, 3, 5] = linear_grad_input(%8, %4) !backward "head"
  #12 %11: f32[2, 3, 5] = scale(%10) {alpha = 1} !backward -
  #13 set_grad(%11) {index = 0} !backward -
end
program eval
end
==== out
  #5 %5: f16[2, 3, 515:576] = linear(%3, %4) !forward "head"
  #6 %6: i64[24], %7: f32[2, 3] = cross_entropy(%5, %2) {ignore = -100} !forward -
  #8 %8: f16[2, 3, 515:576] = cross_entropy_grad(%5, %2, %7) {ignore = -100, exponent = -3} !backward -
  #9 %9: f32[515, 5] = linear_grad_weight(%8, %3) !backward "head"
  #11 %10: f16[2, 3, 5] = linear_grad_input(%8, %4) !backward "head"
