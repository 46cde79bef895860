# RUN: %fsdpc opt --pass= %s
# sched-3: what is in a slot is read by the gather whose result has the slots, and by nothing else.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[8] zeros compute bf16 reduce f32
state 0 param "param" f32[4] group 0 @0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute bf16 reduce f32 params 0@0 unpadded 8 padded 8 shard 4 split (dp)
arena persistent 256 bytes 1536 workspace cpu 0 cuda 0
program eval peak 1536
  #0 %0: f32[4] @0 = state {index = 0} !forward -
  #1 [gather] %1: bf16[4] @256 slot (dp) = cast(%0) !forward unit 0 -
  #2 [gather] %2: bf16[8] @256 = unshard(%1) {axes = (dp), unit = 0, comm = gather, tag = parameter} !forward unit 0 -
  #3 [gather] %3: bf16[4] @512 slot (dp) = cast(%0) !forward unit 0 -
  #4 [gather] %4: bf16[8] @768 = unshard(%3) {axes = (dp), unit = 0, comm = gather, tag = parameter} !forward unit 0 -
  #5 %5: bf16[4] @1024 slot (dp) = cast(%0) !forward unit 0 -
  #6 %6: bf16[4] @1280 = relu(%5) !forward unit 0 -
end
==== err
error[E0521]: sched-3: program eval, #4 unshard: %3 is in a slot of other memory
  = help: values that share memory are where their alias rule puts them

error[E0521]: sched-3: program eval, #6 relu: %5 is in a slot of other memory
  = help: values that share memory are where their alias rule puts them

==== exit 1
