# RUN: %fsdpc opt --pass=fuse_packed_attention %s | sed -n '/^program train/,/^end/p'
# Where something else reads a part, the parts have to exist: nothing is fused.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 3, 4, 5] ones key "x" compute f32 reduce f32
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
  #4 %4: f32[2, 3, 4, 5], %5: f32[2, 3, 4, 5], %6: f32[2, 3, 4, 5] = split(%3) {axis = 2} !forward "attn"
  #5 %7: f32[2, 3, 4, 5], %8: f32[2, 4, 3] = attention(%4, %5, %6) {causal = true, alpha = 0.5} !forward "attn"
  #6 %9: f32[2, 3, 4, 5] = add(%7, %6) !forward -
  #7 %10: f32[2, 3, 20] = reshape(%9) !forward -
  #8 %11: i64[24], %12: f32[2, 3] = cross_entropy(%10, %2) {ignore = -100} !forward -
  #9 set_state(%11) {index = 2} !forward -
end
program eval
end
==== out
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[2, 3, 3, 4, 5] = param {index = 0} !forward -
  #4 %4: f32[2, 3, 4, 5], %5: f32[2, 3, 4, 5], %6: f32[2, 3, 4, 5] = split(%3) {axis = 2} !forward "attn"
  #5 %7: f32[2, 3, 4, 5], %8: f32[2, 4, 3] = attention(%4, %5, %6) {causal = true, alpha = 0.5} !forward "attn"
  #6 %9: f32[2, 3, 4, 5] = add(%7, %6) !forward -
  #7 %10: f32[2, 3, 20] = reshape(%9) !forward -
  #8 %11: i64[24], %12: f32[2, 3] = cross_entropy(%10, %2) {ignore = -100} !forward -
  #9 set_state(%11) {index = 2} !forward -
end
