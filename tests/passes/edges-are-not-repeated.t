# RUN: %fsdpc opt --pass=memory,edges %s | grep -a "^  #"
# What an earlier op of the stream waited for is not waited for again.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 step "step" f64[16]
state 1 param "param" f32[4] group 0
state 2 gradient "g" f32[8] group 0 split () partial (dp)
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
program eval
  #0 %0: f32[4] = state {index = 1} !forward unit 0 -
  #1 [gather] %1: f32[8] = unshard(%0) {axes = (dp), unit = 0} !forward unit 0 -
  #2 %2: f32[3] = view(%1) {offset = 0} !forward unit 0 -
  #3 %3: f32[5] = view(%1) {offset = 12} !forward unit 0 -
  #4 %4: f32[3] = relu(%2) !forward -
  #5 %5: f32[5] = relu(%3) !forward -
  #6 %6: token = reshard(%1) {unit = 0} !forward unit 0 -
end
==== out
  #0 %0: f32[4] @256 = state {index = 1} !forward unit 0 -
  #1 [gather] %1: f32[8] @768 = unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 -
  #2 wait(#1) %2: f32[3] @768 = view(%1) {offset = 0} !forward unit 0 -
  #3 %3: f32[5] @780 = view(%1) {offset = 12} !forward unit 0 -
  #4 %4: f32[3] @1024 = relu(%2) !forward -
  #5 %5: f32[5] @1024 = relu(%3) !forward -
  #6 %6: token = reshard(%1) {unit = 0} !forward unit 0 -
