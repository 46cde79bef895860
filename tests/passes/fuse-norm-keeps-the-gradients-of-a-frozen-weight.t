# RUN: sed '/^param 1/s/$/ frozen/; /#13 /d; /#14 /d' %root/tests/passes/norm.graph | %fsdpc opt --pass=fuse_norm - | sed -n '/#.*!backward/p'
# A norm whose weight is frozen keeps its gradients apart.
==== out
  #10 %12: bf16[2, 3, 5] = cross_entropy_grad(%6, %9, %11) {ignore = -100, exponent = -3} !backward -
  #11 %13: f32[5] = sum_leading(%12) !backward "ln"
  #12 set_grad(%13) {index = 2} !backward "ln"
  #13 %14: f32[2, 3, 5] = layer_norm_grad_input(%12, %0, %1, %4, %5) !backward "ln"
  #14 %15: f32[2, 3, 5] = add(%12, %14) !backward "ln"
  #15 set_grad(%15) {index = 0} !backward -
