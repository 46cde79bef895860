# RUN: %fsdpc opt --pass=grad,precision %s | grep -E '^param|= param|norm_grad_weight|sum_leading'
# A parameter marked @f32 is read, and its gradient written, in f32, next to bf16 ones.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3, compute_dtype = bf16, reduce_dtype = bf16
module 0 "" Net
param 0 "a.weight" module 0 f32[5, 3] ones key "a.weight" compute f32 reduce f32
param 1 "a.bias" module 0 f32[5] ones key "a.bias" compute f32 reduce f32
param 2 "ln.weight" module 0 f32[5] ones key "ln.weight" compute f32 reduce f32 keep_f32
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
  #7 %7: f32[5] = param {index = 2} !forward -
  #8 %8: f32[4, 5], %9: f32[4], %10: f32[4] = layer_norm(%6, %7) {eps = 1e-05} !forward "ln"
  #9 %11: i64[24], %12: f32[4] = cross_entropy(%8, %3) {ignore = -100} !forward -
  #10 set_state(%11) {index = 2} !forward -
end
program eval
end
==== out
param 0 "a.weight" module 0 f32[5, 3] ones key "a.weight" compute bf16 reduce bf16
param 1 "a.bias" module 0 f32[5] ones key "a.bias" compute bf16 reduce bf16
param 2 "ln.weight" module 0 f32[5] ones key "ln.weight" compute f32 reduce f32 keep_f32
  #4 %4: bf16[5, 3] = param {index = 0} !forward -
  #5 %5: bf16[5] = param {index = 1} !forward -
  #7 %7: f32[5] = param {index = 2} !forward -
  #12 %14: f32[5] = layer_norm_grad_weight(%13, %6, %9, %10) !backward "ln"
  #15 %16: bf16[5] = sum_leading(%15) !backward "a"
