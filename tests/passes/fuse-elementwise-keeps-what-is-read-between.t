# RUN: %fsdpc opt --pass=fuse_elementwise in.graph | sed -n '/^formula/p; /^program/,$p'
# Not fused: ops of other shapes, units or phases, what something reads before the end of the chain, an op alone.
==== in.graph
graph shard
mesh dp = 1
module 0 "" M
param 0 "w" module 0 f32[2, 3] zeros
unit 0 "" M modules 0 groups below 6 owned 6 root
program train
  #0 %0: f32[2, 3] = param {index = 0} !forward unit 0 -
  #1 %1: f32[2, 3] = relu(%0) !forward unit 0 -
  #2 %2: f32[2, 1] = sum(%1) !forward unit 0 -
  #3 %3: f32[2, 3] = mul(%1, %2) !forward unit 0 -
  #4 %4: f32[2, 3] = exp(%3) !forward unit 0 -
  #5 %5: f32[2, 1] = sqrt(%2) !forward unit 0 -
  #6 %6: f32[2, 3] = exp(%4) !forward -
  #7 %7: f32[2, 3] = add(%6, %4) !backward unit 0 -
  #8 set_grad(%7) {index = 0} !backward unit 0 -
end
==== out
formula 0 operands 2: f32 mul(x0, x1); f32 exp(t0) -> y0
program train
  #0 %0: f32[2, 3] = param {index = 0} !forward unit 0 -
  #1 %1: f32[2, 3] = relu(%0) !forward unit 0 -
  #2 %2: f32[2, 1] = sum(%1) !forward unit 0 -
  #3 %3: f32[2, 3] = fused(%1, %2) {index = 0} !forward unit 0 -
  #4 %4: f32[2, 1] = sqrt(%2) !forward unit 0 -
  #5 %5: f32[2, 3] = exp(%3) !forward -
  #6 %6: f32[2, 3] = add(%5, %3) !backward unit 0 -
  #7 set_grad(%6) {index = 0} !backward unit 0 -
end
