# RUN: %fsdpc opt --pass= %s
# sched-1: a micro-batch keeps its gradient, and a step ends with the update.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
program first
end
program last
  #0 %0: f32[3] = fill {alpha = 1} !backward -
  #1 %1: f32[5] = fill {alpha = 1} !backward -
  #2 %2: f32[8] = pack(%0, %1) {group = 0} !backward -
  #3 [reduce] wait(#2) %3: f32[4] = reduce_scatter(%2) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward -
end
==== err
error[E0521]: sched-1: program first: the gradient of group 0 is lost
  = help: a gradient is reduced to what its state, the norm and the one update of a step need

error[E0521]: sched-1: program last: group 0 is updated 0 times, not 1
  = help: a gradient is reduced to what its state, the norm and the one update of a step need

==== exit 1
