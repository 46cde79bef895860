# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# The second contribution to a tied weight adds to the first in place; a broadcast reduces.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3
module 0 "" Net
param 0 "wte.weight" module 0 f32[7, 5] ones key "wte.weight" compute f32 reduce f32
param 1 "wpe" module 0 f32[3, 5] ones key "wpe" compute f32 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "ids" i32[2, 3] staging 0
field 1 "targets" i32[2, 3] staging 256
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: u8[2, 1024] = state {index = 1} !forward -
  #2 %2: i32[2, 3] = field(%1, %0) {index = 0} !forward -
  #3 %3: i32[2, 3] = field(%1, %0) {index = 1} !forward -
  #4 %4: f32[7, 5] = param {index = 0} !forward -
  #5 %5: f32[2, 3, 5] = embedding(%4, %2) !forward "wte"
  #6 %6: f32[3, 5] = param {index = 1} !forward -
  #7 %7: f32[2, 3, 5] = add(%5, %6) !forward -
  #8 %8: f32[2, 3, 7] = linear(%7, %4) !forward "head"
  #9 %9: i64[24], %10: f32[2, 3] = cross_entropy(%8, %3) {ignore = -100} !forward -
  #10 set_state(%9) {index = 2} !forward -
end
program eval
end
==== out
  #11 %11: f32[2, 3, 7] = cross_entropy_grad(%8, %3, %10) {ignore = -100, exponent = -3} !backward -
  #12 %12: f32[7, 5] = linear_grad_weight(%11, %7) !backward "head"
  #13 %13: f32[2, 3, 5] = linear_grad_input(%11, %4) !backward "head"
  #14 %14: f32[3, 5] = sum_leading(%13) !backward -
  #15 set_grad(%14) {index = 1} !backward -
  #16 %15: f32[7, 5] = embedding_grad(%13, %2, %12) !backward "wte"
  #17 set_grad(%15) {index = 0} !backward -
