# RUN: for e in '' '/#3 /s/%0)/%1)/' '/#4 /s/^/  #9 %19: f32[2, 3, 5] = relu(%0) !forward -\n/' '/#4 /s/forward/backward/'; do sed "$e" in.graph | %fsdpc opt --pass=fuse_norm - | grep -c add_layer_norm; done; true
# Fused is only an addition of equal shapes right in front of its norm, in its phase.
==== in.graph
graph train
file 1 "net.fsd" 0000000000000000
mesh dp = 1
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 5] ones key "x" compute f32 reduce f32 frozen
param 1 "w" module 0 f32[5] ones key "w" compute f32 reduce f32 frozen
param 2 "b" module 0 f32[5] ones key "b" compute f32 reduce f32 frozen
program train
  #0 %0: f32[2, 3, 5] = param {index = 0} !forward -
  #1 %1: f32[5] = param {index = 1} !forward -
  #2 %2: f32[5] = param {index = 2} !forward -
  #3 %3: f32[2, 3, 5] = add(%0, %0) !forward -
  #4 %4: f32[2, 3, 5], %5: f32[2, 3], %6: f32[2, 3] = layer_norm(%3, %1) {eps = 1e-05} !forward -
end
==== out
1
0
0
0
