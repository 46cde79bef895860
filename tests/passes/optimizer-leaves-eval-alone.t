# RUN: %fsdpc opt --pass=grad,wrap,shard,optimizer %s | grep -E 'set_|^program'
# Program eval is not updated.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3
module 0 "" Net
param 0 "weight" module 0 f32[7, 3] ones key "weight" compute f32 reduce f32
param 1 "bias" module 0 f32[7] ones key "bias" compute f32 reduce f32 frozen
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
  #4 %4: f32[7, 3] = param {index = 0} !forward -
  #5 %5: f32[7] = param {index = 1} !forward -
  #6 %6: f32[4, 7] = linear(%2, %4, %5) !forward -
  #7 %7: i64[24], %8: f32[4] = cross_entropy(%6, %3) {ignore = -100} !forward -
  #8 set_state(%7) {index = 2} !forward -
end
program eval
  #9 %9: f64[16] = state {index = 0} !forward -
  #10 %10: u8[2, 1024] = state {index = 1} !forward -
  #11 %11: f32[4, 3] = field(%10, %9) {index = 0} !forward -
  #12 %12: i32[4] = field(%10, %9) {index = 1} !forward -
  #13 %13: f32[7, 3] = param {index = 0} !forward -
  #14 %14: f32[7] = param {index = 1} !forward -
  #15 %15: f32[4, 7] = linear(%11, %13, %14) !forward -
  #16 %16: i64[24], %17: f32[4] = cross_entropy(%15, %12) {ignore = -100} !forward -
  #17 set_state(%16) {index = 3} !forward -
end
==== out
program train
  #8 set_state(%7) {index = 2} !forward unit 0 -
  #14 set_state(%13) {index = 6} !update -
  #17 set_state(%15) {index = 4} !update -
program eval
  #26 set_state(%23) {index = 3} !forward unit 0 -
