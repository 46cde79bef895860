# RUN: %fsdpc opt --pass= %s
# sched-5: a gather is on stream gather, a reduction on stream reduce.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0
state 1 metric "eval.loss" i64[24]
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
program eval
  #0 %0: f32[4] = state {index = 0} !forward -
  #1 %1: f32[8] = unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 -
  #2 %2: i64[24] = state {index = 1} !forward -
  #3 %3: i64[24] = all_reduce(%2) {axes = (dp), comm = reduce, tag = metric} !forward -
end
==== err
error[E0521]: sched-5: program eval, #1 unshard: is on stream compute
  = help: gathers are on stream gather, reductions on reduce, copies on fetch and evict, messages on send and receive

error[E0521]: sched-5: program eval, #3 all_reduce: is on stream compute
  = help: gathers are on stream gather, reductions on reduce, copies on fetch and evict, messages on send and receive

==== exit 1
