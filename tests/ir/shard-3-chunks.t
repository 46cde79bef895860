# RUN: %fsdpc opt --pass= %s
# shard-3: chunks follow each other and fill a shard; flat parameters and such in chunks are in groups of their own.
==== graph.txt
graph shard
mesh dp = 2
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
param 2 "c" module 0 f32[2] zeros frozen
param 3 "d" module 0 f32[2] zeros compute bf16
unit 0 "" M modules 0 groups 0, 1, 2 below 12 owned 12 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0/2, 1@3/3 unpadded 12 padded 12 shard 6 split (dp)
group 1 unit 0 frozen master f32 compute f32 reduce f32 params 2@0/1 unpadded 4 padded 4 shard 2 split (dp)
group 2 unit 0 trainable master f32 compute bf16 reduce f32 params 3@0/3 unpadded 6 padded 6 shard 3 split (dp)
==== err
error[E0521]: shard-3: group 0: parameter 1 of 5 in chunks of 3 at 3, after 2
  = help: a group's offsets ascend, are aligned and fit, and its shards make it whole; chunks fill a shard

error[E0521]: shard-3: group 1: chunks end at 1 of 2, unpadded 4
  = help: a group's offsets ascend, are aligned and fit, and its shards make it whole; chunks fill a shard

error[E0521]: shard-3: group 2: parameter 3 of 2 in chunks of 3 at 0, after 0
  = help: a group's offsets ascend, are aligned and fit, and its shards make it whole; chunks fill a shard

==== exit 1
