# RUN: %fsdpc opt --pass=grad,wrap,shard,optimizer %s | grep -E '^state|!update'
# AdamW's decay is decoupled from the gradient. Parameters marked @no_decay stay in the group; the table gives their own decay.
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
state 4 param "param" f32[16] group 0
state 5 scale "scale" f64[8]
state 6 moment1 "m" f32[16] group 0
state 7 moment2 "v" f32[16] group 0
  #13 %13: i64[24] = grad_norm(%12) {group = 0} !update -
  #14 %14: f64[8] = step_scale(%7, %13, %0) {exponent = -3, on_nan = stop, clip = 0} !update -
  #15 set_state(%14) {index = 5} !update -
  #16 %15: f32[16] = state {index = 4} !update -
  #17 %16: f32[16] = state {index = 6} !update -
  #18 %17: f32[16] = state {index = 7} !update -
  #19 %18: f32[16], %19: f32[16], %20: f32[16] = adam(%15, %16, %17, %12, %14, %0) {group = 0, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.1, clip_value = 2} !update -
  #20 set_state(%18) {index = 4} !update -
  #21 set_state(%19) {index = 6} !update -
  #22 set_state(%20) {index = 7} !update -
