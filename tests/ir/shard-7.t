# RUN: %fsdpc opt --pass= %s
# shard-7: a collective has its mesh axis, communicator and tag.
==== graph.txt
graph comm
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
program train
  #0 %0: f32[4] = state {index = 0} !forward -
  #1 %1: f32[8] = unshard(%0) {unit = 0, axes = 9, comm = gather, tag = parameter} !forward unit 0 -
  #2 %2: f32[8] = all_reduce(%1) {axes = (dp), comm = reduce, tag = gradient} !backward -
end
==== err
error[E0521]: shard-7: program train, #1 unshard: axes 0x9 of 0x1, communicator 0, tag 0, unit 0
  = help: a collective has its mesh axes, communicator, tag and unit

error[E0521]: shard-7: program train, #2 all_reduce: axes 0x1 of 0x1, communicator 1, tag 1, unit -1
  = help: a collective has its mesh axes, communicator, tag and unit

==== exit 1
