# RUN: %fsdpc opt --pass= %s
# train-1: every trainable parameter has a gradient, a frozen one has none.
==== graph.txt
graph train
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[3] zeros
param 2 "c" module 0 f32[3] zeros frozen
program train
  #0 %0: f32[3] = fill {alpha = 1} !backward -
  #1 set_grad(%0) {index = 0} !backward -
  #2 set_grad(%0) {index = 2} !backward -
end
==== err
error[E0521]: train-1: program train: the trainable parameter "b" has 0 set_grad
  = help: every trainable parameter, and no other, has one set_grad in program train

error[E0521]: train-1: program train: the frozen parameter "c" has 1 set_grad
  = help: every trainable parameter, and no other, has one set_grad in program train

==== exit 1
