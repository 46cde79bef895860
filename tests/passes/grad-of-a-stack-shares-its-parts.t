# RUN: %fsdpc opt --pass=grad %s | grep '!backward'
# Parts of a stack's gradient are others' too: more contributions are added beside them, and a parameter gets a copy.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3, compute_dtype = bf16
module 0 "" Net
param 0 "w" module 0 f32[5, 3] ones key "w" compute f32 reduce f32
param 1 "v" module 0 f32[5, 3] ones key "v" compute f32 reduce f32
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
  #5 %5: f32[5, 3] = param {index = 1} !forward -
  #6 %6: f32[4, 5] = linear(%2, %4) !forward -
  #7 %7: f32[2, 5, 3] = stack(%4, %5) {axis = 0} !forward -
  #8 %8: f32[10, 3] = reshape(%7) !forward -
  #9 %9: f32[4, 10] = linear(%2, %8) !forward -
  #10 %10: f32[4, 2, 5] = reshape(%9) !forward -
  #11 %11: f32[4, 5], %12: f32[4, 5] = split(%10) {axis = 1} !forward -
  #12 %13: f32[4, 5] = mul(%11, %12) !forward -
  #13 %14: f32[4, 5] = add(%13, %6) !forward -
  #14 %15: i64[24], %16: f32[4] = cross_entropy(%14, %3) {ignore = -100} !forward -
  #15 set_state(%15) {index = 2} !forward -
end
program eval
end
==== out
  #16 %17: f32[4, 5] = cross_entropy_grad(%14, %3, %16) {ignore = -100, exponent = -3} !backward -
  #17 %18: f32[4, 5] = mul(%17, %11) !backward -
  #18 %19: f32[4, 5] = mul(%17, %12) !backward -
  #19 %20: f32[4, 2, 5] = stack(%19, %18) {axis = 1} !backward -
  #20 %21: f32[4, 10] = reshape(%20) !backward -
  #21 %22: f32[10, 3] = linear_grad_weight(%21, %2) !backward -
  #22 %23: f32[2, 5, 3] = reshape(%22) !backward -
  #23 %24: f32[5, 3], %25: f32[5, 3] = split(%23) {axis = 0} !backward -
  #24 %26: f32[5, 3] = scale(%25) {alpha = 1} !backward -
  #25 set_grad(%26) {index = 1} !backward -
  #26 %27: f32[5, 3] = linear_grad_weight(%17, %2) !backward -
  #27 %28: f32[5, 3] = add(%24, %27) !backward -
  #28 set_grad(%28) {index = 0} !backward -
