# RUN: %fsdpc opt --pass= %s
# model-5: evaluation draws no random numbers.
==== graph.txt
graph model
module 0 "" M
param 0 "w" module 0 f32[3, 2] zeros
state 0 step "step" f64[16]
program eval
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: f32[3, 2] = param {index = 0} !forward -
  #2 %2: f32[3, 2] = dropout(%1, %0) {salt = 4, p = 0.5} !forward "a"
end
==== err
error[E0521]: model-5: program eval, #2 dropout of a: draws random numbers in an evaluation
  = help: program eval draws no random numbers, at any level

==== exit 1
