# RUN: %fsdpc opt --pass=memory %s | grep -a "cast\|unshard"
# A cast that only a gather reads writes into this rank's slot of the gathered buffer; one that something else reads does not.
==== graph.txt
graph sched
mesh rep = 2, dp = 3
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[200] zeros compute bf16 reduce f32
param 1 "b" module 0 f32[100] zeros compute bf16 reduce bf16
state 0 param "a" f32[67] group 0
state 1 param "b" f32[34] group 1
unit 0 "" M modules 0 groups 0, 1 below 300 owned 300 root
group 0 unit 0 trainable master f32 compute bf16 reduce f32 params 0@0 unpadded 200 padded 201 shard 67 split (dp)
group 1 unit 0 trainable master f32 compute bf16 reduce bf16 params 1@0 unpadded 100 padded 102 shard 34 split (dp)
program eval
  #0 %0: f32[67] = state {index = 0} !forward -
  #1 %1: f32[34] = state {index = 1} !forward -
  #2 [gather] %2: bf16[67] = cast(%0) !forward unit 0 -
  #3 [gather] %3: bf16[34] = cast(%1) !forward unit 0 -
  #4 [gather] %4: bf16[201], %5: bf16[102] = unshard(%2, %3) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 -
  #5 %6: bf16[34] = relu(%3) !forward unit 0 -
end
==== out
  #2 [gather] %2: bf16[67] @768 slot (dp) = cast(%0) !forward unit 0 -
  #3 [gather] %3: bf16[34] @1280 = cast(%1) !forward unit 0 -
  #4 [gather] %4: bf16[201] @768, %5: bf16[102] @1536 = unshard(%2, %3) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 -
