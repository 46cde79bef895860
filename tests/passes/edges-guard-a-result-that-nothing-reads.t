# RUN: %fsdpc opt --pass=edges %s | grep -a "^  #"
# Memory that a reduction writes is written to again behind it, though nothing reads the result.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 step "step" f64[16] @0
state 1 scale "scale" f64[8] @256
state 2 param "param" f32[4] group 0 @512
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
arena persistent 768 bytes 1536 workspace cpu 0 cuda 0
program train peak 1536
  #0 %0: f32[3] @768 = fill {alpha = 1} !backward -
  #1 %1: f32[5] @780 = fill {alpha = 1} !backward -
  #2 %9: f32[8] @768 = pack(%0, %1) {group = 0} !backward unit 0 -
  #20 [reduce] %20: f32[4] @1024 = reduce_scatter(%9) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
  #31 %31: f32[4] @1280 = fill {alpha = 1} !update -
  #32 [reduce] %32: f32[4] @1280 = all_reduce(%31) {axes = (dp), comm = reduce, tag = metric} !update -
  #30 %30: f32[4] @1280 = fill {alpha = 1} !update -
  #21 %21: f64[16] @0 = state {index = 0} !update -
  #22 %22: f64[8] @256 = state {index = 1} !update -
  #23 %23: f32[4] @512 = state {index = 2} !update -
  #24 %24: f32[4] @512 = sgd(%23, %20, %22, %21) {group = 0} !update -
  #25 set_state(%24) {index = 2} !update -
end
==== out
  #0 %0: f32[3] @768 = fill {alpha = 1} !backward -
  #1 %1: f32[5] @780 = fill {alpha = 1} !backward -
  #2 %2: f32[8] @768 = pack(%0, %1) {group = 0} !backward unit 0 -
  #3 [reduce] wait(#2) %3: f32[4] @1024 = reduce_scatter(%2) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 -
  #4 %4: f32[4] @1280 = fill {alpha = 1} !update -
  #5 [reduce] wait(#4) %5: f32[4] @1280 = all_reduce(%4) {unit = -1, axes = (dp), comm = reduce, tag = metric} !update -
  #6 wait(#5) %6: f32[4] @1280 = fill {alpha = 1} !update -
  #7 %7: f64[16] @0 = state {index = 0} !update -
  #8 %8: f64[8] @256 = state {index = 1} !update -
  #9 %9: f32[4] @512 = state {index = 2} !update -
  #10 %10: f32[4] @512 = sgd(%9, %3, %8, %7) {group = 0, weight_decay = 0, clip_value = 0} !update -
  #11 set_state(%10) {index = 2} !update -
