# RUN: %fsdpc opt --pass=fuse_elementwise in.graph | sed -n '/^formula/p; /^program/,$p'
# A chain with a result that is read before its end is one op, early, when what stands between makes at most an eighth as much.
==== in.graph
graph shard
mesh dp = 1
module 0 "" M
param 0 "w" module 0 f32[2, 8] zeros
unit 0 "" M modules 0 groups below 16 owned 16 root
program train
  #0 %0: f32[2, 8] = param {index = 0} !forward unit 0 -
  #1 %1: f32[2, 8] = relu(%0) !forward unit 0 -
  #2 %2: f32[2, 1] = sum(%1) !forward unit 0 -
  #3 %3: f32[2, 8] = exp(%1) !forward unit 0 -
  #4 %4: f32[2, 8] = mul(%3, %2) !backward unit 0 -
  #5 set_grad(%4) {index = 0} !backward unit 0 -
end
==== out
formula 0 operands 1: f32 relu(x0) -> y0; f32 exp(t0) -> y1
program train
  #0 %0: f32[2, 8] = param {index = 0} !forward unit 0 -
  #1 %1: f32[2, 8], %2: f32[2, 8] = fused(%0) {index = 0} !forward unit 0 -
  #2 %3: f32[2, 1] = sum(%1) !forward unit 0 -
  #3 %4: f32[2, 8] = mul(%2, %3) !backward unit 0 -
  #4 set_grad(%4) {index = 0} !backward unit 0 -
end
