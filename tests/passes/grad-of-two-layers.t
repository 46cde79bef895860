# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# Weights before inputs, relu by its output, set_grad right behind each gradient, no gradient of the batch.
==== in.graph
graph model
mesh dp = 1
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
end
==== out
  #12 %12: f32[4, 7] = cross_entropy_grad(%9, %3, %11) {ignore = -100, exponent = -3} !backward -
  #13 %13: f32[7, 5] = linear_grad_weight(%12, %7) !backward "b"
  #14 set_grad(%13) {index = 2} !backward -
  #15 %14: f32[4, 5] = linear_grad_input(%12, %8) !backward "b"
  #16 %15: f32[4, 5] = relu_grad(%14, %7) !backward -
  #17 %16: f32[5] = sum_leading(%15) !backward "a"
  #18 set_grad(%16) {index = 1} !backward -
  #19 %17: f32[5, 3] = linear_grad_weight(%15, %2) !backward "a"
  #20 set_grad(%17) {index = 0} !backward -
