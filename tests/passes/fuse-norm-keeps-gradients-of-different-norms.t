# RUN: for e in '' /weight/s/%9/%6/ /weight/s/%3/%0/ /weight/s/%7/%4/ /weight/s/%8/%5/ '/weight/s/"n"/"m"/' /weight/s/-1:2/-1:3/ /sum/s/%9/%6/ '/sum/s/"n"/"m"/' /sum/s/-1:2/-1:3/ '/sum/s/f32.5./f32[3, 5]/' /input/s/%1,/%10,/; do sed "$e" in.graph | %fsdpc opt --pass=fuse_norm - | grep -c 'layer_norm_grad('; done; true
# Fused are only gradients of one gradient, one input, one norm and one place, over all leading axes; and none that another makes.
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
  #3 %3: f32[2, 3, 5], %4: f32[2, 3], %5: f32[2, 3] = layer_norm(%0, %1, %2) {eps = 1e-05} !forward -
  #4 %6: f32[2, 3, 5], %7: f32[2, 3], %8: f32[2, 3] = layer_norm(%3, %1, %2) {eps = 1e-05} !forward -
  #5 %9: f32[2, 3, 5] = relu(%6) !backward -
  #6 %10: f32[5] = sum_leading(%9) !backward "n" 1:1:1-1:2
  #7 %11: f32[5] = layer_norm_grad_weight(%9, %3, %7, %8) !backward "n" 1:1:1-1:2
  #8 %12: f32[2, 3, 5] = layer_norm_grad_input(%9, %3, %1, %7, %8) !backward "n" 1:1:1-1:2
end
==== out
1
0
0
0
0
0
0
0
0
0
0
0
