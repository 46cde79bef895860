# RUN: %fsdpc opt --pass= %s
# model-3: one op reads a parameter, the others read its result.
==== graph.txt
graph model
module 0 "" M
param 0 "w" module 0 f32[3, 2] zeros
program train
  #0 %0: f32[3, 2] = param {index = 0} !forward "a"
  #1 %1: f32[3, 2] = param {index = 0} !forward "b"
end
program eval
  #2 %2: f32[3, 2] = param {index = 0} !forward -
end
==== err
error[E0521]: model-3: program train, #1 param of b: reads parameter "w" again
  = help: a program reads a parameter by one op

==== exit 1
