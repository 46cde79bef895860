# RUN: %fsdpc opt --pass= %s
# sched-6: the arena is as large as the largest peak.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0 @0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
arena persistent 256 bytes 1024 workspace cpu 0 cuda 0
program eval peak 512
  #0 %0: f32[2] @256 = fill {alpha = 1} !forward -
end
==== err
error[E0521]: sched-6: states end at 256, the largest peak is 512 of 1024
  = help: peaks hold the states and stay within the arena, whose size is the largest

==== exit 1
