# RUN: %fsdpc opt --pass= %s
# sched-3: a view lies inside the value that it shows, a state in its memory.
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
arena persistent 256 bytes 768 workspace cpu 0 cuda 0
program eval peak 768
  #0 %0: f32[4] @256 = state {index = 0} !forward -
  #1 [gather] %1: f32[8] @512 = unshard(%0) {axes = (dp), unit = 0} !forward unit 0 -
  #2 wait(#1) %2: f32[3] @512 = view(%1) {offset = 0} !forward unit 0 -
  #3 %3: f32[5] @512 = view(%1) {offset = 12} !forward unit 0 -
end
==== err
error[E0521]: sched-3: program eval, #0 state: %0 is not in the memory of state "param"
  = help: values that share memory are where their alias rule puts them

error[E0521]: sched-3: program eval, #3 view: %3 is at address 512, not 524
  = help: values that share memory are where their alias rule puts them

==== exit 1
