# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# A value with two readers gets the sum of both gradients, in the order in which they come.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3
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
end
==== out
  #11 %11: f32[4, 5] = cross_entropy_grad(%8, %3, %10) {ignore = -100, exponent = -3} !backward -
  #12 %12: f32[5, 5] = linear_grad_weight(%11, %5) !backward "f"
  #13 set_grad(%12) {index = 1} !backward -
  #14 %13: f32[4, 5] = linear_grad_input(%11, %6) !backward "f"
  #15 %14: f32[4, 5] = add(%11, %13) !backward "f"
  #16 %15: f32[5, 3] = linear_grad_weight(%14, %2) !backward -
  #17 set_grad(%15) {index = 0} !backward -
