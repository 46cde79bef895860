# RUN: %fsdpc compile -q %root/tests/passes/model-t.fsd -n 2 -s train.batch=4 -s train.steps=2 -o /dev/null --print-after=schedule 2>&1 | sed 1d | %fsdpc opt --pass=edges | grep -a "^  #.*shard(" | sed "s, !.*,," | sed -n 1,5p
# Before addresses are assigned, only data, tokens and the order of gathers make edges.
==== out
  #4 [gather] %4: f32[36] = unshard(%3) {unit = 3, axes = (dp), comm = gather, tag = parameter}
  #5 [gather] %5: f32[24] = unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter}
  #12 [gather] wait(#11) %12: f32[48] = unshard(%1) {unit = 1, axes = (dp), comm = gather, tag = parameter}
  #15 %15: token = reshard(%5) {unit = 0}
  #17 [gather] wait(#16) %17: f32[80] = unshard(%2, %15) {unit = 2, axes = (dp), comm = gather, tag = parameter}
