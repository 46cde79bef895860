# RUN: add() { { sed /^end/d %root/tests/passes/norms.graph; echo "  #9 %13: $1 !backward -"; echo "  #10 %14: f32[2, 3, 5] = relu(%$2) !backward -"; echo end; } | %fsdpc opt --pass=fuse_norm - | sed -n '/layer_norm_grad(/s/.*= \(.*)\).*/\1/p'; }; add 'f32[2, 3, 5] = add(%12, %9)' 13; add 'f32[2, 3, 5] = add(%9, %12)' 13; add 'f32[2, 3, 5] = mul(%12, %9)' 13; add 'f32[2, 3, 5] = add(%12, %12)' 13; add 'f32[2, 3, 5] = add(%12, %1)' 13; add 'bf16[2, 3, 5] = add(%12, %9)' 13; add 'f32[2, 3, 5] = add(%3, %9)' 12; add 'f32[2, 3, 5] = add(%12, %9)' 12
# A residual is what a sum of the norm's own gradient, of its shape and dtype, adds to it, on either side.
==== out
layer_norm_grad(%9, %3, %1, %7, %8, %9)
layer_norm_grad(%9, %3, %1, %7, %8, %9)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
layer_norm_grad(%9, %3, %1, %7, %8)
