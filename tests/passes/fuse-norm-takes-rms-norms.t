# RUN: %fsdpc opt --pass=fuse_norm %root/tests/passes/rms-norms.graph | sed '1,/^program/d'
# RUN: for e in '/weight/s/%6/%4/' '/weight/s/%3/%0/' '/weight/s/"n"/"m"/' '/input/s/%1,/%7,/'; do sed "$e" %root/tests/passes/rms-norms.graph | %fsdpc opt --pass=fuse_norm - | grep -c 'rms_norm_grad_weight('; done; true
# An addition and the rms_norm of its sum become one op, and so do the norm's gradients and the addition after them; gradients of different norms do not.
==== out
  #0 %0: f32[2, 3, 5] = param {index = 0} !forward -
  #1 %1: f32[5] = param {index = 1} !forward -
  #2 %2: f32[2, 3, 5] = relu(%0) !forward -
  #3 %3: f32[2, 3, 5], %4: f32[2, 3, 5], %5: f32[2, 3] = add_rms_norm(%0, %2, %1) {eps = 1e-05} !forward "n" 1:1:1-1:2
  #4 %6: f32[2, 3, 5] = relu(%4) !backward -
  #5 %7: f32[2, 3, 5], %8: f32[5] = rms_norm_grad(%6, %3, %1, %5, %2) !backward "n" 1:1:1-1:2
end
1
1
1
1
