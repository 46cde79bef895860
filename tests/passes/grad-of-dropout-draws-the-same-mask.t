# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# Dropout is its own gradient, with the same salt and step; the seed has the policy's exponent.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -9
module 0 "" Net
param 0 "a" module 0 f32[4, 7] ones key "a" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[4] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[4] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[4, 7] = param {index = 0} !forward -
  #4 %4: f32[4, 7] = dropout(%3, %0) {salt = 5, p = 0.25} !forward "drop"
  #5 %5: f32[4, 7] = scale(%4) {alpha = 3} !forward -
  #6 %6: i64[24], %7: f32[4] = cross_entropy(%5, %2) {ignore = -100} !forward -
  #7 set_state(%6) {index = 2} !forward -
end
program eval
end
==== out
  #8 %8: f32[4, 7] = cross_entropy_grad(%5, %2, %7) {ignore = -100, exponent = -9} !backward -
  #9 %9: f32[4, 7] = scale(%8) {alpha = 3} !backward -
  #10 %10: f32[4, 7] = dropout(%9, %0) {salt = 5, p = 0.25} !backward "drop"
  #11 set_grad(%10) {index = 0} !backward -
