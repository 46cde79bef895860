# RUN: add() { { sed /^end/d in.graph; echo "  #9 %13: $1 !backward -"; echo "  #10 %14: f32[2, 3, 5] = relu(%$2) !backward -"; echo end; } | %fsdpc opt --pass=fuse_norm - | sed -n '/layer_norm_grad(/s/.*= \(.*)\).*/\1/p'; }; add 'f32[2, 3, 5] = add(%12, %9)' 13; add 'f32[2, 3, 5] = add(%9, %12)' 13; add 'f32[2, 3, 5] = mul(%12, %9)' 13; add 'f32[2, 3, 5] = add(%12, %12)' 13; add 'f32[2, 3, 5] = add(%12, %1)' 13; add 'bf16[2, 3, 5] = add(%12, %9)' 13; add 'f32[2, 3, 5] = add(%3, %9)' 12; add 'f32[2, 3, 5] = add(%12, %9)' 12
# A residual is what a sum of the norm's own gradient, of its shape and dtype, adds to it, on either side.
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
layer_norm_grad(%9, %3, %1, %7, %8, %9)
layer_norm_grad(%9, %3, %1, %7, %8, %9)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
