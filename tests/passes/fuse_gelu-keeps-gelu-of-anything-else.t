# RUN: %fsdpc opt --pass=fuse_gelu %s | grep 'program\|linear\|gelu\|add\|cross'
# gelu of a sum or of a view of a product is not fused.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f32 reduce f32
param 1 "w" module 0 f32[7, 5] ones key "w" compute f32 reduce f32
param 2 "b" module 0 f32[7] ones key "b" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: f32[2, 3, 5] = param {index = 0} !forward -
  #4 %4: f32[7, 5] = param {index = 1} !forward -
  #5 %5: f32[7] = param {index = 2} !forward -
  #6 %6: f32[2, 3, 7] = linear(%3, %4, %5) !forward "mlp.c_fc"
  #7 %7: f32[2, 3, 7] = add(%6, %5) !forward "mlp"
  #8 %8: f32[2, 3, 7] = gelu(%7) {approx = tanh} !forward "mlp"
  #9 %9: f32[2, 3, 7] = linear(%3, %4, %5) !forward "mlp.c_fc"
  #10 %10: f32[6, 7] = reshape(%9) !forward "mlp"
  #11 %11: f32[6, 7] = gelu(%10) {approx = tanh} !forward "mlp"
  #12 %12: f32[2, 3, 7] = reshape(%11) !forward "mlp"
  #13 %13: f32[2, 3, 7] = add(%8, %12) !forward "mlp"
  #14 %14: i64[24], %15: f32[2, 3] = cross_entropy(%13, %2) {ignore = -100} !forward -
  #15 set_state(%14) {index = 2} !forward -
end
program eval
end
==== out
program train
  #6 %6: f32[2, 3, 7] = linear(%3, %4, %5) !forward "mlp.c_fc"
  #7 %7: f32[2, 3, 7] = add(%6, %5) !forward "mlp"
  #8 %8: f32[2, 3, 7] = gelu(%7) {approx = tanh} !forward "mlp"
  #9 %9: f32[2, 3, 7] = linear(%3, %4, %5) !forward "mlp.c_fc"
  #11 %11: f32[6, 7] = gelu(%10) {approx = tanh} !forward "mlp"
  #13 %13: f32[2, 3, 7] = add(%8, %12) !forward "mlp"
  #14 %14: i64[24], %15: f32[2, 3] = cross_entropy(%13, %2) {ignore = -100} !forward -
program eval
