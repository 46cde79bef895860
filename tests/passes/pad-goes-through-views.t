# RUN: %fsdpc opt --pass=pad %s | grep 'linear\|cross\|reshape\|relu'
# A view that keeps the last axis has the pitch of the value that it shows.
==== in.graph
graph train
mesh dp = 1
policy loss_exponent = -3, compute_dtype = bf16
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute bf16 reduce f32
param 1 "w" module 0 f32[515, 5] ones key "w" compute bf16 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: bf16[2, 3, 5] = param {index = 0} !forward -
  #4 %4: bf16[515, 5] = param {index = 1} !forward -
  #5 %5: bf16[2, 3, 515] = linear(%3, %4) !forward "head"
  #6 %6: bf16[6, 515] = reshape(%5) !forward -
  #7 %7: bf16[2, 3, 515] = reshape(%6) !forward -
  #8 %8: i64[24], %9: f32[2, 3] = cross_entropy(%7, %2) {ignore = -100} !forward -
  #9 set_state(%8) {index = 2} !forward -
end
program eval
end
==== out
  #5 %5: bf16[2, 3, 515:576] = linear(%3, %4) !forward "head"
  #6 %6: bf16[6, 515:576] = reshape(%5) !forward -
  #7 %7: bf16[2, 3, 515:576] = reshape(%6) !forward -
  #8 %8: i64[24], %9: f32[2, 3] = cross_entropy(%7, %2) {ignore = -100} !forward -
