# RUN: %fsdpc opt --pass= %s
# train-6: forward is not repeated in forward.
==== graph.txt
graph train
module 0 "" M
param 0 "w" module 0 f32[3, 2] zeros
program eval
  #0 %0: f32[3, 2] = param {index = 0} !forward -
  #1 %1: f32[3, 2] = relu(%0) !forward recomputed -
end
==== err
error[E0521]: train-6: program eval, #1 relu: is in phase forward, where forward cannot be recomputed
  = help: a recomputed op repeats an op of forward in phase backward

==== exit 1
