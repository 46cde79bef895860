# RUN: %fsdpc opt --pass= %s
# train-2: a gradient has its parameter's shape; its dtype may differ.
==== graph.txt
graph train
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[2, 3] zeros
program train
  #0 %0: bf16[3] = fill {alpha = 1} !backward -
  #1 set_grad(%0) {index = 0} !backward -
  #2 set_grad(%0) {index = 1} !backward -
end
==== err
error[E0521]: train-2: program train, #2 set_grad: the gradient of "b" is bf16[3], not f32[2, 3]
  = help: a gradient has its parameter's shape

==== exit 1
