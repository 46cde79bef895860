# RUN: %fsdpc opt --pass=memory %s | grep -a "^  #"
# A result does not take the memory of a state.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[64] zeros compute f32 reduce f32
state 0 param "a" f32[64] group 0
unit 0 "" M modules 0 groups 0 below 64 owned 64 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 64 padded 64 shard 64
program eval
  #0 %0: f32[64] = state {index = 0} !forward -
  #1 %1: f32[64] = relu(%0) !forward -
  #2 %2: f32[64] = mul(%1, %1) !forward -
end
==== out
  #0 %0: f32[64] @0 = state {index = 0} !forward -
  #1 %1: f32[64] @256 = relu(%0) !forward -
  #2 %2: f32[64] @256 = mul(%1, %1) !forward -
