# RUN: %fsdpc opt --pass= %s
# model-2: a model is all forward.
==== graph.txt
graph model
module 0 "" M
param 0 "w" module 0 f32[3, 2] zeros
program train
  #0 %0: f32[3, 2] = param {index = 0} !forward -
  #1 %1: f32[3, 2] = relu(%0) !backward -
end
==== err
error[E0521]: model-2: program train, #1 relu: has phase backward and unit -1
  = help: at level model every op is in phase forward and belongs to no unit

==== exit 1
