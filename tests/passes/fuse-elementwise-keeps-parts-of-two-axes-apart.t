# RUN: %fsdpc opt --pass=fuse_elementwise in.graph | sed -n '/^formula/p; /^program/,$p'
# Not fused: cuts along two axes, parts beside sums of rows, more than eight pieces.
==== in.graph
graph shard
mesh dp = 1
module 0 "" M
param 0 "w" module 0 f32[9, 6, 40] zeros
unit 0 "" M modules 0 groups below 2160 owned 2160 root
program train
  #0 %0: f32[9, 6, 40] = param {index = 0} !forward unit 0 -
  #1 %1: f32[9, 6, 20] = slice(%0) {axis = 2, start = 0, count = 20} !forward unit 0 -
  #2 %2: f32[9, 3, 20] = slice(%1) {axis = 1, start = 0, count = 3} !forward unit 0 -
  #3 %3: f32[9, 6, 1] = max(%0) !forward unit 0 -
  #4 %4: f32[9, 6, 1] = slice(%0) {axis = 2, start = 1, count = 1} !forward unit 0 -
  #5 %5: f32[9, 6, 1] = mul(%3, %4) !forward unit 0 -
end
==== out
program train
  #0 %0: f32[9, 6, 40] = param {index = 0} !forward unit 0 -
  #1 %1: f32[9, 6, 20] = slice(%0) {axis = 2, start = 0, count = 20} !forward unit 0 -
  #2 %2: f32[9, 3, 20] = slice(%1) {axis = 1, start = 0, count = 3} !forward unit 0 -
  #3 %3: f32[9, 6, 1] = max(%0) !forward unit 0 -
  #4 %4: f32[9, 6, 1] = slice(%0) {axis = 2, start = 1, count = 1} !forward unit 0 -
  #5 %5: f32[9, 6, 1] = mul(%3, %4) !forward unit 0 -
end
