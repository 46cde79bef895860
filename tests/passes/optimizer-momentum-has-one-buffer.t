# RUN: %fsdpc opt --pass=grad,optimizer %s | grep -E '^state|!update'
# Momentum needs a single buffer of the parameter's shape.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3, momentum = 0.9, nesterov = true, weight_decay = 0.01, on_nan = skip
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
state 4 scale "scale" f64[8]
state 5 moment1 "weight.m" f32[7, 3] param 0
state 6 moment1 "bias.m" f32[7] param 1
  #14 %12: i64[24] = grad_norm(%11) {group = -1} !update -
  #15 %13: i64[24] = grad_norm(%10) {group = -1} !update -
  #16 %14: i64[24] = metric_add(%12, %13) !update -
  #17 %15: f64[8] = step_scale(%7, %14, %0) {exponent = -3, on_nan = skip, clip = 0} !update -
  #18 set_state(%15) {index = 4} !update -
  #19 %16: f32[7, 3] = master {index = 0} !update -
  #20 %17: f32[7, 3] = state {index = 5} !update -
  #21 %18: f32[7, 3], %19: f32[7, 3] = sgd_momentum(%16, %17, %11, %15, %0) {index = 0, group = -1, nesterov = true, momentum = 0.9, weight_decay = 0.01, clip_value = 0} !update -
  #22 set_param(%18) {index = 0} !update -
  #23 set_state(%19) {index = 5} !update -
  #24 %20: f32[7] = master {index = 1} !update -
  #25 %21: f32[7] = state {index = 6} !update -
  #26 %22: f32[7], %23: f32[7] = sgd_momentum(%20, %21, %10, %15, %0) {index = 1, group = -1, nesterov = true, momentum = 0.9, weight_decay = 0.01, clip_value = 0} !update -
  #27 set_param(%22) {index = 1} !update -
  #28 set_state(%23) {index = 6} !update -
