# RUN: %fsdpc opt --pass=fuse_backward %s | grep '#.*backward'
# If two products could take a sum, the first one does.
==== in.graph
graph train
mesh dp = 1
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 7] ones key "x" compute f32 reduce f32 frozen
param 1 "w" module 0 f32[7, 7] ones key "w" compute f32 reduce f32 frozen
program train
  #0 %0: f32[2, 3, 7] = param {index = 0} !forward -
  #1 %1: f32[7, 7] = param {index = 1} !forward -
  #2 %2: f32[2, 3, 7] = linear(%0, %1) !forward "n"
  #3 %3: f32[7] = sum_leading(%2) !backward "n"
  #4 %4: f32[7, 7] = linear_grad_weight(%2, %0) !backward "n"
  #5 %5: f32[7, 7] = linear_grad_weight(%2, %2) !backward "n"
end
==== out
  #3 %3: f32[7, 7], %4: f32[7] = linear_grad_weight_bias(%2, %0) !backward "n"
  #4 %5: f32[7, 7] = linear_grad_weight(%2, %2) !backward "n"
