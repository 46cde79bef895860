# RUN: %fsdpc opt --pass=memory %s | grep -a "fill\|scale(\|pack\|relu\|reduce_scatter"
# Operands of a pack lie in it at their offsets, from the first one on.
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
  #0 %0: f32[5] = fill {alpha = 1} !backward -
  #1 %1: f32[64] = fill {alpha = 2} !backward -
  #2 %2: f32[3] = fill {alpha = 3} !backward -
  #3 %9: f32[8] = pack(%2, %0) {group = 0} !backward unit 0 -
  #4 %4: f32[64] = relu(%1) !backward -
  #20 [reduce] %20: f32[4] = reduce_scatter(%9) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
  #21 %21: f64[16] = state {index = 0} !update -
  #22 %22: f64[8] = state {index = 1} !update -
  #23 %23: f32[4] = state {index = 2} !update -
  #24 %24: f32[4] = sgd(%23, %20, %22, %21) {group = 0} !update -
  #25 set_state(%24) {index = 2} !update -
end
==== out
  #0 %0: f32[5] @780 = fill {alpha = 1} !backward -
  #1 %1: f32[64] @1280 = fill {alpha = 2} !backward -
  #2 %2: f32[3] @768 = fill {alpha = 3} !backward -
  #3 %3: f32[8] @768 = pack(%2, %0) {group = 0} !backward unit 0 -
  #4 %4: f32[64] @1280 = relu(%1) !backward -
  #5 [reduce] %5: f32[4] @1024 = reduce_scatter(%3) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
