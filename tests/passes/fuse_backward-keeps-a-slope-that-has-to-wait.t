# RUN: for e in '' '/slope/d' '/grad(/s/%3)/%5)/' '/grad(/s/.*/&\n  #9 %9: f32[2, 3, 7] = relu(%4) !backward -/'; do sed "$e" in.graph | %fsdpc opt --pass=fuse_backward - | grep -c linear_grad_input_gelu; done; true
# gelu's slope goes into the product only where its operand is there and nothing else reads the product.
==== in.graph
graph train
mesh dp = 1
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 7] ones key "x" compute f32 reduce f32 frozen
param 1 "w" module 0 f32[7, 7] ones key "w" compute f32 reduce f32 frozen
program train
  #0 %0: f32[2, 3, 7] = param {index = 0} !forward -
  #1 %1: f32[7, 7] = param {index = 1} !forward -
  #3 %3: f32[2, 3, 7] = linear(%0, %1) !forward -
  #4 %4: f32[2, 3, 7] = linear_grad_input(%3, %1) !backward -
  #5 %5: f32[2, 3, 7] = relu(%0) !backward -
  #6 %6: f32[2, 3, 7] = gelu_grad(%4, %3) {approx = tanh} !backward "slope"
end
==== out
1
0
0
0
