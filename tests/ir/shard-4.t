# RUN: %fsdpc opt --pass= %s
# shard-4: a view shows one of the parameters.
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
program eval
  #0 %0: f32[4] = state {index = 0} !forward -
  #1 %1: f32[8] = unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 -
  #2 %2: f32[3] = view(%1) {offset = 0} !forward unit 0 -
  #3 %3: f32[5] = view(%1) {offset = 12} !forward unit 0 -
  #4 %4: f32[3] = view(%1) {offset = 12} !forward unit 0 -
  #5 %5: f32[3] = view(%1) {offset = 4} !forward unit 0 -
end
==== err
error[E0521]: shard-4: program eval, #4 view: group 0 has no parameter f32[3] at element 3
  = help: a view of a flat parameter is one of its parameters, in one piece; a parameter in chunks is copied

error[E0521]: shard-4: program eval, #5 view: group 0 has no parameter f32[3] at element 1
  = help: a view of a flat parameter is one of its parameters, in one piece; a parameter in chunks is copied

==== exit 1
