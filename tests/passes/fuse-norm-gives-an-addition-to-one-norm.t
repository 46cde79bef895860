# RUN: { sed /^end/d %root/tests/passes/norms.graph; echo '  #9 %13: f32[2, 3, 5] = add(%9, %12) !backward -'; echo '  #10 %14: f32[2, 3, 5], %15: f32[2, 3], %16: f32[2, 3] = layer_norm(%13, %1) {eps = 1e-05} !backward -'; echo end; } | %fsdpc opt --pass=fuse_norm - | grep "#.*backward"
# A sum that a norm's gradient has taken in is not taken in by a norm behind it.
==== out
  #5 %9: f32[2, 3, 5] = relu(%6) !backward -
  #6 %10: f32[2, 3, 5], %11: f32[5], %12: f32[5] = layer_norm_grad(%9, %3, %1, %7, %8, %9) !backward "n" 1:1:1-1:2
  #7 %13: f32[2, 3, 5], %14: f32[2, 3], %15: f32[2, 3] = layer_norm(%10, %1) {eps = 1e-05} !backward -
