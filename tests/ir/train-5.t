# RUN: %fsdpc opt --pass= %s
# train-5: an evaluation computes no gradient.
==== graph.txt
graph train
module 0 "" M
param 0 "w" module 0 f32[3, 2] zeros
program eval
  #0 %0: f32[3, 2] = param {index = 0} !forward -
  #1 set_grad(%0) {index = 0} !forward -
end
==== err
error[E0521]: train-5: program eval, #1 set_grad: is not allowed in an evaluation
  = help: program eval has no gradients and no updates, at level train and after

==== exit 1
