# RUN: %fsdpc opt --pass= %s
# shard-3: the layout of a flat parameter is checked.
==== graph.txt
graph shard
mesh dp = 2
policy align = 16
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
param 2 "c" module 0 f32[2] zeros frozen
unit 0 "" M modules 0 groups 0, 1 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
group 1 unit 0 frozen master f32 compute f32 reduce f32 params 2@0 unpadded 2 padded 4 shard 4 split (dp)
==== err
error[E0521]: shard-3: group 0: parameter 1 at 3, after 3 and in steps of 4
  = help: a group's offsets ascend, are aligned and fit, and its shards make it whole; chunks fill a shard

error[E0521]: shard-3: group 1: ends at 2, unpadded 2, padded 4, shard 4 of 2
  = help: a group's offsets ascend, are aligned and fit, and its shards make it whole; chunks fill a shard

==== exit 1
