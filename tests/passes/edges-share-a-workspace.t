# RUN: %fsdpc opt --pass=memory,edges %s | grep -a "= linear"
# Products use one workspace: one on another stream waits for the one before it, though they share no value.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
program eval
  #0 %0: f32[3, 5] = fill {alpha = 1} !forward -
  #1 %1: f32[7, 5] = fill {alpha = 1} !forward -
  #2 %2: f32[3, 5] = fill {alpha = 1} !forward -
  #3 %3: f32[3, 7] = linear(%0, %1) !forward -
  #4 [reduce] %4: f32[3, 7] = linear(%2, %1) !forward -
  #5 %5: f32[3, 7] = linear(%0, %1) !forward -
end
==== out
  #3 %3: f32[3, 7] @1280 = linear(%0, %1) !forward -
  #4 [reduce] wait(#3) %4: f32[3, 7] @1024 = linear(%2, %1) !forward -
  #5 wait(#4) %5: f32[3, 7] @1280 = linear(%0, %1) !forward -
