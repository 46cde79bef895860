# RUN: %fsdpc opt --pass=grad,wrap,shard,optimizer %s | grep -E '^state|!update'
# Plain SGD: norms added up, one scale, an update each, no moments.
==== in.graph
graph model
mesh dp = 1
policy loss_exponent = -3, clip = 0.25
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
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
state 4 param "param" f32[31] group 0
state 5 scale "scale" f64[8]
  #13 %13: i64[24] = grad_norm(%12) {group = 0} !update -
  #14 %14: f64[8] = step_scale(%7, %13, %0) {exponent = -3, on_nan = stop, clip = 0.25} !update -
  #15 set_state(%14) {index = 5} !update -
  #16 %15: f32[31] = state {index = 4} !update -
  #17 %16: f32[31] = sgd(%15, %12, %14, %0) {group = 0, weight_decay = 0, clip_value = 0} !update -
  #18 set_state(%16) {index = 4} !update -
