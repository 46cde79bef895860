# RUN: sed '/= add(%12/d; /#17 /s/%16/%15/' %root/tests/passes/norm.graph | %fsdpc opt --pass=fuse_norm - | sed -n '/#.*!backward/p'
# Without an addition behind it the fused gradient has five operands.
==== out
  #10 %12: bf16[2, 3, 5] = cross_entropy_grad(%6, %9, %11) {ignore = -100, exponent = -3} !backward -
  #11 %13: f32[2, 3, 5], %14: f32[5], %15: f32[5] = layer_norm_grad(%12, %0, %1, %4, %5) !backward "ln"
  #12 set_grad(%15) {index = 2} !backward "ln"
  #13 set_grad(%14) {index = 1} !backward "ln"
  #14 set_grad(%13) {index = 0} !backward -
