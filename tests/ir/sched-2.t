# RUN: %fsdpc opt --pass= %s
# sched-2: an address is a multiple of 256 inside of the arena; states do not overlap.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0 @0
state 1 moment1 "m" f32[4] group 0 @0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
arena persistent 256 bytes 512 workspace cpu 0 cuda 0
program eval peak 512
  #0 %0: f32[2] @256 = fill {alpha = 1} !forward -
  #1 %1: f32[2] @260 = relu(%0) !forward -
  #2 %2: f32[2] @512 = relu(%0) !forward -
  #3 %3: f32[2] = relu(%0) !forward -
end
==== err
error[E0521]: sched-2: program eval, #1 relu: %1 of 8 bytes is at 260
  = help: addresses are aligned and in bounds

error[E0521]: sched-2: program eval, #2 relu: %2 of 8 bytes is at 512
  = help: addresses are aligned and in bounds

error[E0521]: sched-2: program eval, #3 relu: %3 of 8 bytes is at -1
  = help: addresses are aligned and in bounds

==== exit 1
