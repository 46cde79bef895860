# RUN: %fsdpc opt --pass= %s
# shard-2: every parameter is in one group, and agrees with it.
==== graph.txt
graph shard
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros frozen
param 2 "c" module 0 f32[5] zeros
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
==== err
error[E0521]: shard-2: group 0 and parameter "b" disagree
  = help: every parameter is in one group, which agrees with it in dtypes

error[E0521]: shard-2: parameter "c" is in 0 groups
  = help: every parameter is in one group, which agrees with it in dtypes

==== exit 1
