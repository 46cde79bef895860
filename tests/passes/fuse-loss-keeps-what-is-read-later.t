# RUN: sed '/#7 /s/$/\n #20 %20: f32[2, 3] = relu(%5) !backward -/' %root/tests/passes/loss.graph | %fsdpc opt --pass=fuse_loss - | sed -n '/^program/,/^end/{/cross\|relu/p}'
# A loss whose log-sum-exp is read behind its gradient too stays apart from its gradient.
==== out
  #4 %4: i64[24], %5: f32[2, 3] = cross_entropy(%0, %3) {ignore = -100} !forward -
  #6 %6: f32[2, 3, 5] = cross_entropy_grad(%0, %3, %5) {ignore = -100, exponent = -3} !backward -
  #8 %7: f32[2, 3] = relu(%5) !backward -
  #13 %12: i64[24], %13: f32[2, 3] = cross_entropy(%8, %11) {ignore = -100} !forward -
