# RUN: for e in '' '/sum/s/"n"/"m"/' '/sum/s/1:2/1:3/' '/sum/s/%7/%2/' '/sum/s/f32.7./f32[3, 7]/' '/weight/s/%0/%9/' '/weight/s/%0)/%0, %2)/' ; do sed "$e" in.graph | %fsdpc opt --pass=fuse_backward - | grep -c linear_grad_weight_bias; done; true
# A bias's sum goes into the product of its own linear only: one gradient, one place, over all leading axes, an input of forward, nothing to go on from.
==== in.graph
graph train
file 1 "net.fsd" 0000000000000000
mesh dp = 1
module 0 "" Net
param 0 "x" module 0 f32[2, 3, 7] ones key "x" compute f32 reduce f32 frozen
param 1 "w" module 0 f32[7, 7] ones key "w" compute f32 reduce f32 frozen
program train
  #0 %0: f32[2, 3, 7] = param {index = 0} !forward -
  #1 %1: f32[7, 7] = param {index = 1} !forward -
  #2 %2: f32[7, 7] = relu(%1) !forward -
  #3 %6: f32[2, 3, 7] = linear(%0, %1) !forward "n" 1:1:1-1:2
  #4 %7: f32[2, 3, 7] = relu(%6) !backward -
  #5 %8: f32[7] = sum_leading(%7) !backward "n" 1:1:1-1:2
  #6 %9: f32[2, 3, 7] = relu(%7) !backward -
  #7 %10: f32[7, 7] = linear_grad_weight(%7, %0) !backward "n" 1:1:1-1:2
end
==== out
1
0
0
0
0
0
0
