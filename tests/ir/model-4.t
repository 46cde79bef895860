# RUN: %fsdpc opt --pass= %s
# model-4: two dropouts with one salt would drop the same elements.
==== graph.txt
graph model
module 0 "" M
param 0 "w" module 0 f32[3, 2] zeros
state 0 step "step" f64[16]
program train
  #0 %0: f64[16] = state {index = 0} !forward -
  #1 %1: f32[3, 2] = param {index = 0} !forward -
  #2 %2: f32[3, 2] = dropout(%1, %0) {salt = 4, p = 0.5} !forward "a"
  #3 %3: f32[3, 2] = dropout(%2, %0) {salt = 5, p = 0.5} !forward "b"
  #4 %4: f32[3, 2] = dropout(%3, %0) {salt = 4, p = 0.5} !forward "c"
end
==== err
error[E0521]: model-4: program train, #4 dropout of c: has salt 4, like #2
  = help: random ops of one forward pass have different salts

==== exit 1
