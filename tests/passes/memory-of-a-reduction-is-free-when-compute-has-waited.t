# RUN: %fsdpc opt --pass=memory,edges %s | grep -a "^  #"
# What a reduction reads is its own until compute waits for it, here in #4, whose result may lie there: no longer.
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
  #2 %2: f32[8] = pack(%0, %1) {group = 0} !backward unit 0 -
  #3 [reduce] %3: f32[4] = reduce_scatter(%2) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
  #4 %4: bf16[4] = cast(%3) !backward -
  #5 %5: f64[16] = state {index = 0} !update -
  #6 %6: f64[8] = state {index = 1} !update -
  #7 %7: f32[4] = state {index = 2} !update -
  #8 %8: f32[4] = sgd(%7, %3, %6, %5) {group = 0} !update -
  #9 set_state(%8) {index = 2} !update -
end
==== out
  #0 %0: f32[3] @1024 = fill {alpha = 1} !backward -
  #1 %1: f32[5] @1036 = fill {alpha = 1} !backward -
  #2 %2: f32[8] @1024 = pack(%0, %1) {group = 0} !backward unit 0 -
  #3 [reduce] wait(#2) %3: f32[4] @768 = reduce_scatter(%2) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
  #4 wait(#3) %4: bf16[4] @1024 = cast(%3) !backward -
  #5 %5: f64[16] @0 = state {index = 0} !update -
  #6 %6: f64[8] @256 = state {index = 1} !update -
  #7 %7: f32[4] @512 = state {index = 2} !update -
  #8 %8: f32[4] @512 = sgd(%7, %3, %6, %5) {group = 0, weight_decay = 0, clip_value = 0} !update -
  #9 set_state(%8) {index = 2} !update -
