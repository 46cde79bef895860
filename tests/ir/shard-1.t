# RUN: %fsdpc opt --pass= %s
# shard-1: units and groups name each other, and the root comes last.
==== graph.txt
graph shard
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0
module 1 "h" M parent 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
unit 1 "h" M modules 1 groups 0 below 0 owned 0
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
==== err
error[E0521]: shard-1: unit "" is the root but not the last
  = help: units and groups name each other, and the root is the last unit

error[E0521]: shard-1: unit "h" has group 0, which is of unit 0
  = help: units and groups name each other, and the root is the last unit

error[E0521]: shard-1: group 0 is in 2 units
  = help: units and groups name each other, and the root is the last unit

==== exit 1
