# RUN: %fsdpc opt --pass=fuse_gelu,grad,fuse_backward %s | sed -n '/!backward/p'
# If gelu has two readers, gelu_grad takes the sum of their gradients; the sum of another op is not fused as the bias of a product.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f32 reduce f32
param 1 "w" module 0 f32[5, 5] ones key "w" compute f32 reduce f32
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
  #9 %9: f32[2, 3, 5] = add(%8, %5) !forward "sum"
  #10 %10: f32[2, 3, 7] = linear(%9, %6) !forward "proj"
  #11 %11: f32[2, 3, 7] = linear(%8, %6) !forward "proj"
  #12 %12: f32[2, 3, 7] = add(%10, %11) !forward -
  #13 %13: i64[24], %14: f32[2, 3] = cross_entropy(%12, %2) {ignore = -100} !forward -
  #14 set_state(%13) {index = 2} !forward -
end
program eval
end
==== out
  #14 %15: f32[2, 3, 7] = cross_entropy_grad(%12, %2, %14) {ignore = -100, exponent = -3} !backward -
  #15 %16: f32[7, 5] = linear_grad_weight(%15, %7) !backward "proj"
  #16 %17: f32[2, 3, 5] = linear_grad_input(%15, %6) !backward "proj"
  #17 %18: f32[7, 5] = linear_grad_weight(%15, %9, %16) !backward "proj"
  #18 set_grad(%18) {index = 3} !backward -
  #19 %19: f32[2, 3, 5] = linear_grad_input(%15, %6) !backward "proj"
  #20 %20: f32[5] = sum_leading(%19) !backward "sum"
  #21 %21: f32[2, 3, 5] = add(%17, %19) !backward "sum"
  #22 %22: f32[2, 3, 5] = gelu_grad(%21, %8) {approx = tanh} !backward "fc"
  #23 %23: f32[5] = sum_leading(%22, %20) !backward "fc"
  #24 set_grad(%23) {index = 2} !backward -
  #25 %24: f32[5, 5] = linear_grad_weight(%22, %3) !backward "fc"
  #26 set_grad(%24) {index = 1} !backward -
  #27 %25: f32[2, 3, 5] = linear_grad_input(%22, %4) !backward "fc"
  #28 set_grad(%25) {index = 0} !backward -
