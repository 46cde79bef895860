# RUN: %fsdpc opt --pass= %s
# shard-4: what is in chunks is no view; a copy is of a parameter that the group has in chunks, and a pack of none.
==== graph.txt
graph comm
mesh dp = 2
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros frozen
state 0 param "param" f32[2] group 0
state 1 param "param.1" f32[3] group 1
unit 0 "" M modules 0 groups 0, 1 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0/2 unpadded 4 padded 4 shard 2 split (dp)
group 1 unit 0 frozen master f32 compute f32 reduce f32 params 1@0 unpadded 5 padded 6 shard 3 split (dp)
program eval
  #0 %0: f32[2] = state {index = 0} !forward -
  #1 %1: f32[3] = state {index = 1} !forward -
  #2 %2: f32[4], %3: f32[6] = unshard(%0, %1) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 -
  #3 %4: f32[3] = view(%2) {offset = 0} !forward unit 0 -
  #4 %5: f32[3] = copy_out(%2) {index = 0} !forward unit 0 -
  #5 %6: f32[5] = copy_out(%3) {index = 1} !forward unit 0 -
  #6 %7: f32[4] = pack(%5) {group = 0} !forward unit 0 -
end
==== err
error[E0521]: train-5: program eval, #6 pack: is not allowed in an evaluation
  = help: program eval has no gradients and no updates, at level train and after

error[E0521]: shard-4: program eval, #3 view: group 0 has no parameter f32[3] at element 0
  = help: a view of a flat parameter is one of its parameters, in one piece; a parameter in chunks is copied

error[E0521]: shard-4: program eval, #5 copy_out: group 1 has no chunks of parameter 1
  = help: a view of a flat parameter is one of its parameters, in one piece; a parameter in chunks is copied

error[E0521]: shard-4: program eval, #6 pack: the parameters of group 0 are in chunks
  = help: a view of a flat parameter is one of its parameters, in one piece; a parameter in chunks is copied

==== exit 1
