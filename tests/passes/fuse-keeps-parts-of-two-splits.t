# RUN: %fsdpc opt --pass=fuse_packed_attention %s | sed -n '/^program train/,/^end/p'
# Attention over parts of two values has no single packed operand.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 3, 4, 5] ones key "x" compute f32 reduce f32
param 1 "z" module 0 f32[2, 3, 3, 4, 5] ones key "z" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[2, 3, 3, 4, 5] = param {index = 0} !forward -
  #4 %4: f32[2, 3, 3, 4, 5] = param {index = 1} !forward -
  #5 %5: f32[2, 3, 4, 5], %6: f32[2, 3, 4, 5], %7: f32[2, 3, 4, 5] = split(%3) {axis = 2} !forward -
  #6 %8: f32[2, 3, 4, 5], %9: f32[2, 3, 4, 5], %10: f32[2, 3, 4, 5] = split(%4) {axis = 2} !forward -
  #7 %11: f32[2, 3, 4, 5], %12: f32[2, 4, 3] = attention(%5, %9, %10) {causal = true, alpha = 0.5} !forward "attn"
  #8 %13: f32[2, 3, 20] = reshape(%11) !forward -
  #9 %14: i64[24], %15: f32[2, 3] = cross_entropy(%13, %2) {ignore = -100} !forward -
  #10 set_state(%14) {index = 2} !forward -
end
program eval
end
==== out
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[2, 3, 3, 4, 5] = param {index = 0} !forward -
  #4 %4: f32[2, 3, 3, 4, 5] = param {index = 1} !forward -
  #5 %5: f32[2, 3, 4, 5], %6: f32[2, 3, 4, 5], %7: f32[2, 3, 4, 5] = split(%3) {axis = 2} !forward -
  #6 %8: f32[2, 3, 4, 5], %9: f32[2, 3, 4, 5], %10: f32[2, 3, 4, 5] = split(%4) {axis = 2} !forward -
  #7 %11: f32[2, 3, 4, 5], %12: f32[2, 4, 3] = attention(%5, %9, %10) {causal = true, alpha = 0.5} !forward "attn"
  #8 %13: f32[2, 3, 20] = reshape(%11) !forward -
  #9 %14: i64[24], %15: f32[2, 3] = cross_entropy(%13, %2) {ignore = -100} !forward -
  #10 set_state(%14) {index = 2} !forward -
end
