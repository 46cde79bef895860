# RUN: for e in '' 's/axis = 2/axis = 1/' '/split/s/.*/  #2 %1: f32[3, 3, 4, 5] = relu(%9) !forward -\n  #3 %2: f32[3, 3, 4, 5] = relu(%9) !forward -\n  #4 %3: f32[3, 3, 4, 5] = relu(%9) !forward -/' '/param 0/s/3, 4/4, 4/;/#0/s/3, 4/4, 4/;/split/s/ = /, %8: f32[3, 3, 4, 5] = /' '/param 0/s/3, 4/2, 4/;/#0/s/3, 4/2, 4/;/split/s/, %3.*/ = split(%0) {axis = 2} !forward -\n  #3 %3: f32[3, 3, 4, 5] = relu(%9) !forward -/'; do sed "$e" in.graph | %fsdpc opt --pass=fuse_packed_attention - | grep -c attention_packed; done; true
# Only the three parts of a split along the third axis are packed.
==== in.graph
graph model
mesh dp = 1
module 0 "" Net
param 0 "x" module 0 f32[3, 3, 3, 4, 5] ones key "x" compute f32 reduce f32
param 1 "y" module 0 f32[3, 3, 4, 5] ones key "y" compute f32 reduce f32
program train
  #0 %0: f32[3, 3, 3, 4, 5] = param {index = 0} !forward -
  #1 %9: f32[3, 3, 4, 5] = param {index = 1} !forward -
  #2 %1: f32[3, 3, 4, 5], %2: f32[3, 3, 4, 5], %3: f32[3, 3, 4, 5] = split(%0) {axis = 2} !forward -
  #6 %4: f32[3, 3, 4, 5], %5: f32[3, 4, 3] = attention(%1, %2, %3) {causal = true, alpha = 0.5} !forward -
end
==== out
1
0
0
0
0
