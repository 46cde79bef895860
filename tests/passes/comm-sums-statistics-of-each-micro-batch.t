# RUN: %fsdpc dump --stage=comm -n 2 -s train.batch=6 -s train.accumulate=3 %root/tests/passes/router.fsd | grep -E '^program| (balance|balance_loss|balance_grad|all_reduce)\(' | sed 's/ !.*//'
# Each micro-batch sums its own statistics over ranks before its loss and its gradient read them.
==== out
program first
  #28 %32: i64[8] = balance(%13, %12, %5) {ignore = -100, alpha = 0.5}
  #29 %33: i64[8] = all_reduce(%32) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #30 %34: i64[24] = balance_loss(%31, %33) {alpha = 0.5}
  #32 %35: f32[1, 8, 3] = balance_grad(%13, %33) {exponent = -6, alpha = 0.5}
program micro
  #84 %94: i64[8] = balance(%75, %74, %67) {ignore = -100, alpha = 0.5}
  #85 %95: i64[8] = all_reduce(%94) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #86 %96: i64[24] = balance_loss(%93, %95) {alpha = 0.5}
  #90 %99: f32[1, 8, 3] = balance_grad(%75, %95) {exponent = -6, alpha = 0.5}
program last
  #144 %160: i64[8] = balance(%141, %140, %133) {ignore = -100, alpha = 0.5}
  #145 %161: i64[8] = all_reduce(%160) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #146 %162: i64[24] = balance_loss(%159, %161) {alpha = 0.5}
  #149 %165: f32[1, 8, 3] = balance_grad(%141, %161) {exponent = -6, alpha = 0.5}
  #176 %195: i64[24], %196: i64[24] = all_reduce(%164, %193) {unit = -1, axes = (dp), comm = reduce, tag = metric}
program eval
  #215 %236: i64[8] = balance(%216, %215, %208) {ignore = -100, alpha = 0.5}
  #216 %237: i64[8] = all_reduce(%236) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #217 %238: i64[24] = balance_loss(%234, %237) {alpha = 0.5}
  #218 %239: i64[24] = all_reduce(%238) {unit = -1, axes = (dp), comm = reduce, tag = metric}
==== err
warning[W0401]: one unit of 366 parameters is gathered at once; write unit = Expert
  = help: that is 1.4 KiB on every rank, as much as without sharding

