# RUN: %fsdpc opt --pass=fuse_norm %root/tests/passes/norm.graph
# The gradients of a norm and the addition of the residual's become one op; set_grad stays behind.
==== out
graph train
mesh dp = 1
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -3
module 0 "" Net
module 1 "ln" LayerNorm parent 0
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute bf16 reduce f32
param 1 "ln.weight" module 1 f32[5] ones key "ln.weight" compute bf16 reduce f32
param 2 "ln.bias" module 1 f32[5] ones key "ln.bias" compute bf16 reduce f32
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 1024]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
field 0 "targets" i32[2, 3] staging 0
program train
  #0 %0: bf16[2, 3, 5] = param {index = 0} !forward -
  #1 %1: bf16[5] = param {index = 1} !forward "ln"
  #2 %2: bf16[5] = param {index = 2} !forward "ln"
  #3 %3: bf16[2, 3, 5], %4: f32[2, 3], %5: f32[2, 3] = layer_norm(%0, %1, %2) {eps = 1e-05} !forward "ln"
  #4 %6: bf16[2, 3, 5] = add(%0, %3) !forward -
  #5 %7: f64[16] = state {index = 0} !forward -
  #6 %8: u8[2, 1024] = state {index = 1} !forward -
  #7 %9: i32[2, 3] = field(%8, %7) {index = 0} !forward -
  #8 %10: i64[24], %11: f32[2, 3] = cross_entropy(%6, %9) {ignore = -100} !forward -
  #9 set_state(%10) {index = 2} !forward -
  #10 %12: bf16[2, 3, 5] = cross_entropy_grad(%6, %9, %11) {ignore = -100, exponent = -3} !backward -
  #11 %13: f32[2, 3, 5], %14: f32[5], %15: f32[5] = layer_norm_grad(%12, %0, %1, %4, %5, %12) !backward "ln"
  #12 set_grad(%15) {index = 2} !backward "ln"
  #13 set_grad(%14) {index = 1} !backward "ln"
  #14 set_grad(%13) {index = 0} !backward -
end
