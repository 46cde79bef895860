# RUN: %fsdpc opt --pass=memory,edges %s | grep -a "^  #"
# A free waits for the reduction that reads what it frees.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 step "step" f64[16]
state 1 scale "scale" f64[8]
state 2 param "param" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
program train
  #0 %0: f32[3] = fill {alpha = 1} !backward -
  #1 %1: f32[5] = fill {alpha = 1} !backward -
  #2 %9: f32[8] = pack(%0, %1) {group = 0} !backward unit 0 -
  #20 [reduce] %20: f32[4] = reduce_scatter(%9) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
  #30 %30: f32[64] = fill {alpha = 1} !backward -
  #31 %31: token = free(%9) {unit = 0} !backward unit 0 -
  #21 %21: f64[16] = state {index = 0} !update -
  #22 %22: f64[8] = state {index = 1} !update -
  #23 %23: f32[4] = state {index = 2} !update -
  #24 %24: f32[4] = sgd(%23, %20, %22, %21) {group = 0} !update -
  #25 set_state(%24) {index = 2} !update -
end
==== out
  #0 %0: f32[3] @1024 = fill {alpha = 1} !backward -
  #1 %1: f32[5] @1036 = fill {alpha = 1} !backward -
  #2 %2: f32[8] @1024 = pack(%0, %1) {group = 0} !backward unit 0 -
  #3 [reduce] wait(#2) %3: f32[4] @768 = reduce_scatter(%2) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
  #4 %4: f32[64] @1280 = fill {alpha = 1} !backward -
  #5 wait(#3) %5: token = free(%2) {unit = 0} !backward unit 0 -
  #6 %6: f64[16] @0 = state {index = 0} !update -
  #7 %7: f64[8] @256 = state {index = 1} !update -
  #8 %8: f32[4] @512 = state {index = 2} !update -
  #9 %9: f32[4] @512 = sgd(%8, %3, %7, %6) {group = 0, weight_decay = 0, clip_value = 0} !update -
  #10 set_state(%9) {index = 2} !update -
