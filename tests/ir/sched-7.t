# RUN: %fsdpc opt --pass= %s
# sched-7: the workspace holds what an op may ask for.
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
arena persistent 256 bytes 1024 workspace cpu 0 cuda 1024
program eval peak 1024
  #0 %0: f32[2, 7] @256 = fill {alpha = 1} !forward -
  #1 %2: i32[2] @768 = iota !forward -
  #2 %1: i64[24] @512 = accuracy(%0, %2) !forward -
end
==== err
error[E0521]: sched-7: program eval, #2 accuracy: may need a workspace of 12288 bytes on cuda, but the graph reserves 1024
  = help: the workspace holds what each op may ask for

==== exit 1
