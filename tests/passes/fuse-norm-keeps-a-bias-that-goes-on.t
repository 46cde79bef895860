# RUN: sed '/#11 /s/^/ #18 %18: f32[5] = fill {alpha = 0} !backward -\n/; /#11 /s/%12/%12, %18/' %root/tests/passes/norm.graph | %fsdpc opt --pass=fuse_norm - | sed -n '/#.*!backward/p'
# A bias gradient that adds to an earlier one keeps the gradients of the norm apart.
==== out
  #10 %12: bf16[2, 3, 5] = cross_entropy_grad(%6, %9, %11) {ignore = -100, exponent = -3} !backward -
  #11 %13: f32[5] = fill {alpha = 0} !backward -
  #12 %14: f32[5] = sum_leading(%12, %13) !backward "ln"
  #13 set_grad(%14) {index = 2} !backward "ln"
  #14 %15: f32[5] = layer_norm_grad_weight(%12, %0, %4, %5) !backward "ln"
  #15 set_grad(%15) {index = 1} !backward "ln"
  #16 %16: f32[2, 3, 5] = layer_norm_grad_input(%12, %0, %1, %4, %5) !backward "ln"
  #17 %17: f32[2, 3, 5] = add(%12, %16) !backward "ln"
  #18 set_grad(%17) {index = 0} !backward -
