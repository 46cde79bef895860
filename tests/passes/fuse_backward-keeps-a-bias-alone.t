# RUN: %fsdpc opt --pass=fuse_gelu,grad,fuse_backward %s | sed -n '/!backward/p'
# With a frozen weight there is no product into which the sum of the bias could be fused.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f32 reduce f32
param 1 "w" module 0 f32[5, 5] ones key "w" compute f32 reduce f32 frozen
param 2 "b" module 0 f32[5] ones key "b" compute f32 reduce f32
param 3 "v" module 0 f32[7, 5] ones key "v" compute f32 reduce f32
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
  #4 %4: f32[5, 5] = param {index = 1} !forward -
  #5 %5: f32[5] = param {index = 2} !forward -
  #6 %6: f32[7, 5] = param {index = 3} !forward -
  #7 %7: f32[2, 3, 5] = linear(%3, %4, %5) !forward "fc"
  #8 %8: f32[2, 3, 5] = gelu(%7) {approx = tanh} !forward -
  #9 %9: f32[2, 3, 7] = linear(%8, %6) !forward "proj"
  #10 %10: i64[24], %11: f32[2, 3] = cross_entropy(%9, %2) {ignore = -100} !forward -
  #11 set_state(%10) {index = 2} !forward -
end
program eval
end
==== out
  #11 %12: f32[2, 3, 7] = cross_entropy_grad(%9, %2, %11) {ignore = -100, exponent = -3} !backward -
  #12 %13: f32[7, 5] = linear_grad_weight(%12, %7) !backward "proj"
  #13 set_grad(%13) {index = 3} !backward -
  #14 %14: f32[2, 3, 5] = linear_grad_input_gelu(%12, %6, %8) {approx = tanh} !backward "proj"
  #15 %15: f32[5] = sum_leading(%14) !backward "fc"
  #16 set_grad(%15) {index = 2} !backward -
  #17 %16: f32[2, 3, 5] = linear_grad_input(%14, %4) !backward "fc"
  #18 set_grad(%16) {index = 0} !backward -
