# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# A part that nothing reads has gradient zero.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3
module 0 "" Net
param 0 "a" module 0 f32[4, 3, 7] ones key "a" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[4] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[4] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[4, 3, 7] = param {index = 0} !forward -
  #4 %4: f32[4, 7], %5: f32[4, 7], %6: f32[4, 7] = split(%3) {axis = 1} !forward -
  #5 %7: f32[4, 7] = mul(%4, %6) !forward -
  #6 %8: i64[24], %9: f32[4] = cross_entropy(%7, %2) {ignore = -100} !forward -
  #7 set_state(%8) {index = 2} !forward -
end
program eval
end
==== out
  #8 %10: f32[4, 7] = cross_entropy_grad(%7, %2, %9) {ignore = -100, exponent = -3} !backward -
  #9 %11: f32[4, 7] = mul(%10, %4) !backward -
  #10 %12: f32[4, 7] = mul(%10, %6) !backward -
  #11 %13: f32[4, 7] = fill {alpha = 0} !backward -
  #12 %14: f32[4, 3, 7] = stack(%12, %13, %11) {axis = 1} !backward -
  #13 set_grad(%14) {index = 0} !backward -
