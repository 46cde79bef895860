# RUN: %fsdpc opt --pass=fuse_elementwise in.graph | sed -n '/^formula/p; /^program/,$p'
# Of the ops that read a value, the last eight reads before an op are looked at: relu of %0, not of %1.
==== in.graph
graph shard
mesh dp = 1
module 0 "" M
param 0 "w" module 0 f32[2, 3] zeros
param 1 "v" module 0 f32[2, 3] zeros
unit 0 "" M modules 0 groups below 12 owned 12 root
program train
  #0 %0: f32[2, 3] = param {index = 0} !forward unit 0 -
  #1 %1: f32[2, 3] = param {index = 1} !forward unit 0 -
  #2 %2: f32[2, 3] = relu(%0) !forward unit 0 -
  #3 %3: f32[2, 3] = relu(%1) !forward unit 0 -
  #4 %4: f32[2, 7, 3] = stack(%0, %0, %0, %0, %0, %0, %0) {axis = 1} !forward unit 0 -
  #5 %5: f32[2, 8, 3] = stack(%1, %1, %1, %1, %1, %1, %1, %1) {axis = 1} !forward unit 0 -
  #6 %6: f32[2, 3] = exp(%0) !forward unit 0 -
  #7 %7: f32[2, 3] = exp(%1) !forward unit 0 -
  #8 %8: f32[2, 3] = add(%2, %6) !backward unit 0 -
  #9 %9: f32[2, 3] = add(%3, %7) !backward unit 0 -
  #10 set_grad(%8) {index = 0} !backward unit 0 -
  #11 set_grad(%9) {index = 1} !backward unit 0 -
end
==== out
formula 0 operands 1: f32 relu(x0) -> y0; f32 exp(x0) -> y1
program train
  #0 %0: f32[2, 3] = param {index = 0} !forward unit 0 -
  #1 %1: f32[2, 3] = param {index = 1} !forward unit 0 -
  #2 %2: f32[2, 3] = relu(%1) !forward unit 0 -
  #3 %3: f32[2, 7, 3] = stack(%0, %0, %0, %0, %0, %0, %0) {axis = 1} !forward unit 0 -
  #4 %4: f32[2, 8, 3] = stack(%1, %1, %1, %1, %1, %1, %1, %1) {axis = 1} !forward unit 0 -
  #5 %5: f32[2, 3], %6: f32[2, 3] = fused(%0) {index = 0} !forward unit 0 -
  #6 %7: f32[2, 3] = exp(%1) !forward unit 0 -
  #7 %8: f32[2, 3] = add(%5, %6) !backward unit 0 -
  #8 %9: f32[2, 3] = add(%2, %7) !backward unit 0 -
  #9 set_grad(%8) {index = 0} !backward unit 0 -
  #10 set_grad(%9) {index = 1} !backward unit 0 -
end
