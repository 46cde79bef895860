# RUN: for p in '' grad; do %fsdpc opt --pass=$p %s | grep -c '!forward'; done
# Backward is appended to train; forward and eval keep every op.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3
module 0 "" Net
param 0 "a.weight" module 0 f32[5, 3] ones key "a.weight" compute f32 reduce f32
param 1 "a.bias" module 0 f32[5] ones key "a.bias" compute f32 reduce f32
param 2 "b.weight" module 0 f32[7, 5] ones key "b.weight" compute f32 reduce f32
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
  #5 %5: f32[5] = param {index = 1} !forward -
  #6 %6: f32[4, 5] = linear(%2, %4, %5) !forward "a"
  #7 %7: f32[4, 5] = relu(%6) !forward -
  #8 %8: f32[7, 5] = param {index = 2} !forward -
  #9 %9: f32[4, 7] = linear(%7, %8) !forward "b"
  #10 %10: i64[24], %11: f32[4] = cross_entropy(%9, %3) {ignore = -100} !forward -
  #11 set_state(%10) {index = 2} !forward -
end
program eval
  #12 %12: f64[16] = state {index = 0} !forward -
  #13 %13: u8[2, 1024] = state {index = 1} !forward -
  #14 %14: f32[4, 3] = field(%13, %12) {index = 0} !forward -
  #15 %15: i32[4] = field(%13, %12) {index = 1} !forward -
  #16 %16: f32[5, 3] = param {index = 0} !forward -
  #17 %17: f32[5] = param {index = 1} !forward -
  #18 %18: f32[4, 5] = linear(%14, %16, %17) !forward "a"
  #19 %19: f32[4, 5] = relu(%18) !forward -
  #20 %20: f32[7, 5] = param {index = 2} !forward -
  #21 %21: f32[4, 7] = linear(%19, %20) !forward "b"
  #22 %22: i64[24], %23: f32[4] = cross_entropy(%21, %15) {ignore = -100} !forward -
  #23 set_state(%22) {index = 3} !forward -
end
==== out
24
24
