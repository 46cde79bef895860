# RUN: %fsdpc opt --pass= %s
# train-3: an update sets every trainable parameter, in the master dtype.
==== graph.txt
graph train
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[3] zeros
program train
  #0 %0: bf16[3] = fill {alpha = 1} !update -
  #1 set_param(%0) {index = 0} !update -
end
==== err
error[E0521]: train-3: program train, #1 set_param: parameter "a" is f32[3], not bf16[3]
  = help: an update sets every trainable parameter once, in its master type

error[E0521]: train-3: program train: the trainable parameter "b" has 0 set_param
  = help: an update sets every trainable parameter once, in its master type

==== exit 1
