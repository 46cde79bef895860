# RUN: %fsdpc opt --pass= %s
# sched-8: what is worked on in place is not read as it was.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0 @0
state 1 metric "eval.loss" i64[24] @256
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
arena persistent 512 bytes 768 workspace cpu 12288 cuda 12288
program eval peak 768
  #0 %0: i64[24] @256 = state {index = 1} !forward -
  #2 %2: i64[24] @256 = metric_add(%0, %0) !forward -
  #3 %3: i64[24] @256 = metric_add(%0, %2) !forward -
end
==== err
error[E0521]: sched-8: program eval, #2 metric_add: reads %0 after its memory was taken over
  = help: memory that an op takes over in place is not read as its old value later

==== exit 1
