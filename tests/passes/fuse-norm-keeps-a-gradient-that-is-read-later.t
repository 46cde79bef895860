# RUN: sed '/#17 /s/$/\n #18 %18: f32[2, 3, 5] = relu(%15) !backward -/' %root/tests/passes/norm.graph | %fsdpc opt --pass=fuse_norm - | sed -n '/#.*!backward/p'
# A gradient of a norm that is read behind its addition too leaves the addition apart.
==== out
  #10 %12: bf16[2, 3, 5] = cross_entropy_grad(%6, %9, %11) {ignore = -100, exponent = -3} !backward -
  #11 %13: f32[2, 3, 5], %14: f32[5], %15: f32[5] = layer_norm_grad(%12, %0, %1, %4, %5) !backward "ln"
  #12 set_grad(%15) {index = 2} !backward "ln"
  #13 set_grad(%14) {index = 1} !backward "ln"
  #14 %16: f32[2, 3, 5] = add(%12, %13) !backward "ln"
  #15 set_grad(%16) {index = 0} !backward -
  #16 %17: f32[2, 3, 5] = relu(%13) !backward -
