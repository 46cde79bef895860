# RUN: for e in '' '/grad/s/%0/%9/' '/grad/s/%3/%4/' '/grad/s/-100/-101/' '/grad/s/, 5. = .*/] = relu(%6) !backward -/' '/#7/s/$/\n  #8 %8: i64[24], %10: f32[2, 3] = cross_entropy(%0, %4) {ignore = -100} !forward -\n  #9 set_state(%8) {index = 3} !forward -\n  #10 %12: f32[2, 3, 5] = cross_entropy_grad(%0, %4, %10) {ignore = -100, exponent = -3} !backward -/' '/#7/s/$/\n  #8 %8: f32[2, 3, 5] = relu(%0) !forward -/'; do sed "$e" in.graph | %fsdpc opt --pass=fuse_loss - | grep -c cross_entropy_both; done; true
# A loss and a gradient of other logits, other targets or with another id to ignore stay apart; other losses in between do not.
==== in.graph
graph train
mesh dp = 1
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f32 reduce f32 frozen
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
field 1 "others" i32[2, 3] staging 256
program train
  #0 %0: f32[2, 3, 5] = param {index = 0} !forward -
  #1 %9: f32[2, 3, 5] = relu(%0) !forward -
  #2 %1: f64[16] = state {index = 0} !forward -
  #3 %2: u8[2, 1024] = state {index = 1} !forward -
  #4 %3: i32[2, 3] = field(%2, %1) {index = 0} !forward -
  #5 %4: i32[2, 3] = field(%2, %1) {index = 1} !forward -
  #6 %5: i64[24], %6: f32[2, 3] = cross_entropy(%0, %3) {ignore = -100} !forward -
  #7 set_state(%5) {index = 2} !forward -
  #11 %11: f32[2, 3, 5] = cross_entropy_grad(%0, %3, %6) {ignore = -100, exponent = -3} !backward -
end
==== out
1
0
0
0
0
2
0
