# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# Value 0 has a gradient like any other: a program may begin with a parameter.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
param 0 "w" module 0 f32[5, 3] ones key "w" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "x" f32[4, 3] staging 0
field 1 "targets" i32[4] staging 256
program train
  #0 %0: f32[5, 3] = param {index = 0} !forward -
  #1 %1: f64[16] = state {index = 0} !forward -
  #2 %2: u8[2, 1024] = state {index = 1} !forward -
  #3 %3: f32[4, 3] = field(%2, %1) {index = 0} !forward -
  #4 %4: i32[4] = field(%2, %1) {index = 1} !forward -
  #5 %5: f32[4, 5] = linear(%3, %0) !forward -
  #6 %6: i64[24], %7: f32[4] = cross_entropy(%5, %4) {ignore = -100} !forward -
  #7 set_state(%6) {index = 2} !forward -
end
program eval
end
==== out
  #8 %8: f32[4, 5] = cross_entropy_grad(%5, %4, %7) {ignore = -100, exponent = -3} !backward -
  #9 %9: f32[5, 3] = linear_grad_weight(%8, %3) !backward -
  #10 set_grad(%9) {index = 0} !backward -
