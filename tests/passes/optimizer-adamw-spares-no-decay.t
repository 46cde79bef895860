# RUN: %fsdpc opt --pass=grad,optimizer %s | grep -E '^state|!update'
# AdamW decays beside the gradient, and not what is marked @no_decay.
==== in.graph
graph model
mesh dp = 2
policy loss_exponent = -3, optimizer = adamw, weight_decay = 0.1, clip_value = 2
module 0 "" Net
param 0 "weight" module 0 f32[7, 3] ones key "weight" compute f32 reduce f32
param 1 "bias" module 0 f32[7] ones key "bias" compute f32 reduce f32 no_decay
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
state 6 moment2 "weight.v" f32[7, 3] param 0
state 7 moment1 "bias.m" f32[7] param 1
state 8 moment2 "bias.v" f32[7] param 1
  #14 %12: i64[24] = grad_norm(%11) {group = -1} !update -
  #15 %13: i64[24] = grad_norm(%10) {group = -1} !update -
  #16 %14: i64[24] = metric_add(%12, %13) !update -
  #17 %15: f64[8] = step_scale(%7, %14, %0) {exponent = -3, on_nan = stop, clip = 0} !update -
  #18 set_state(%15) {index = 4} !update -
  #19 %16: f32[7, 3] = master {index = 0} !update -
  #20 %17: f32[7, 3] = state {index = 5} !update -
  #21 %18: f32[7, 3] = state {index = 6} !update -
  #22 %19: f32[7, 3], %20: f32[7, 3], %21: f32[7, 3] = adam(%16, %17, %18, %11, %15, %0) {index = 0, group = -1, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.1, clip_value = 2} !update -
  #23 set_param(%19) {index = 0} !update -
  #24 set_state(%20) {index = 5} !update -
  #25 set_state(%21) {index = 6} !update -
  #26 %22: f32[7] = master {index = 1} !update -
  #27 %23: f32[7] = state {index = 7} !update -
  #28 %24: f32[7] = state {index = 8} !update -
  #29 %25: f32[7], %26: f32[7], %27: f32[7] = adam(%22, %23, %24, %10, %15, %0) {index = 1, group = -1, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0, clip_value = 2} !update -
  #30 set_param(%25) {index = 1} !update -
  #31 set_state(%26) {index = 7} !update -
  #32 set_state(%27) {index = 8} !update -
