# RUN: %fsdpc opt --pass= %s
# shard-6: a gradient is packed once.
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
  #0 %0: f32[3] = fill {alpha = 1} !backward -
  #1 %1: f32[5] = fill {alpha = 1} !backward -
  #2 %2: f32[8] = pack(%0, %1) {group = 0} !backward -
  #3 %3: f32[8] = pack(%0, %1) {group = 0} !backward -
end
==== err
error[E0521]: shard-6: program train, #3 pack: group 0 is packed again
  = help: a step has one gradient of each trainable group, packs and updates it at most once

==== exit 1
