# RUN: %fsdpc opt --pass=grad,wrap,shard,optimizer %s | grep -E '^state|!update' | grep adam
# Adam with L2 is the same op with `decoupled = false`.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3, optimizer = adam, weight_decay = 0.1
module 0 "" Net
param 0 "weight" module 0 f32[7, 3] ones key "weight" compute f32 reduce f32
param 1 "bias" module 0 f32[7] ones key "bias" compute f32 reduce f32
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
  #4 %4: f32[7, 3] = param {index = 0} !forward -
  #5 %5: f32[7] = param {index = 1} !forward -
  #6 %6: f32[4, 7] = linear(%2, %4, %5) !forward -
  #7 %7: i64[24], %8: f32[4] = cross_entropy(%6, %3) {ignore = -100} !forward -
  #8 set_state(%7) {index = 2} !forward -
end
program eval
end
==== out
  #19 %18: f32[16], %19: f32[16], %20: f32[16] = adam(%15, %16, %17, %12, %14, %0) {group = 0, decoupled = false, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.1, clip_value = 0} !update -
