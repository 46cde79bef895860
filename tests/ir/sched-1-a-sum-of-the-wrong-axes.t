# RUN: %fsdpc opt --pass= %s
# sched-1: on a mesh of replicas a gradient is reduced over each axis once, the shard by an all_reduce.
==== graph.txt
graph sched
mesh rep = 2, dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[8] zeros
state 0 param "param" f32[4] group 0
state 1 gradient "grad" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 8 padded 8 shard 4 split (dp)
program first
  #0 %0: f32[8] = fill {alpha = 1} !backward -
  #1 %1: f32[8] = pack(%0) {group = 0} !backward -
  #2 [reduce] wait(#1) %2: f32[4] = reduce_scatter(%1) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward -
  #3 wait(#2) set_state(%2) {index = 1} !backward -
end
program last
  #4 %3: f32[4] = state {index = 1} !backward -
  #5 %4: f32[8] = fill {alpha = 1} !backward -
  #6 %5: f32[8] = pack(%4) {group = 0} !backward -
  #7 [reduce] wait(#6) %6: f32[4] = reduce_scatter(%5) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward -
  #8 [reduce] %7: f32[4] = all_reduce(%6) {unit = 0, axes = (rep, dp), comm = reduce, tag = gradient} !backward -
end
==== err
error[E0521]: sched-1: program first, #3 set_state: needs the gradient of group 0 split over (dp) and partial over (), but it is split over (dp) and partial over (rep)
  = help: a gradient is reduced to what its state, the norm and the one update of a step need

error[E0521]: sched-1: program last, #8 all_reduce: reduces the gradient of group 0 over (rep, dp), but it is partial over (rep)
  = help: a gradient is reduced to what its state, the norm and the one update of a step need

error[E0521]: sched-1: program last: group 0 is updated 0 times, not 1
  = help: a gradient is reduced to what its state, the norm and the one update of a step need

==== exit 1
