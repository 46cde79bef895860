# RUN: for o in muon adafactor; do %fsdpc dump --stage=comm -s "train.optimizer=$o()" %s | sed -n '/program train/,/program eval/p' | grep -E 'factored_|muon|all_reduce.*update' | sed 's/ !update.*//'; done
# Sums that complete matrices are over the axis that cuts them, too; those of norm, which is whole along tp, are not.
==== net.fsd
module Net {
  norm : LayerNorm(8)
  up   : Linear(8, 12)
  down : Linear(12, 8)
  head : Linear(8, 4)
  forward(x) = head(down(relu(up(norm(x)))))
}
model = Net
data  { train = synthetic(x = [8], y = 4, samples = 64) }
train { loss = cross_entropy(model(x), y); batch = 12; steps = 1; optimizer = sgd(lr = 0.1); clip = none }
shard { mesh = (dp = 2, tp = 3) }
==== out
  #49 %56: i64[24] = all_reduce(%54) {unit = -1, axes = (dp, tp), comm = reduce, tag = metric}
  #50 %57: i64[24] = all_reduce(%25) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #55 %60: f32[32], %61: f32[256] = muon_momentum(%59, %47, %58) {group = 1, nesterov = true, momentum = 0.95, clip_value = 0}
  #56 %62: f32[256] = all_reduce(%61) {unit = 0, axes = (dp, tp), comm = reduce, tag = momentum}
  #58 %63: f32[32], %64: i64[224] = muon(%1, %62, %58, %6) {group = 1, steps = 5, rate = original, weight_decay = 0.1}
  #45 %50: i64[24] = all_reduce(%48) {unit = -1, axes = (dp, tp), comm = reduce, tag = metric}
  #46 %51: i64[24] = all_reduce(%23) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #50 %53: i64[80] = factored_sums(%0, %45, %52) {group = 0, clip_value = 0}
  #51 %54: i64[176] = factored_sums(%1, %44, %52) {group = 1, clip_value = 0}
  #53 %56: i64[80] = all_reduce(%53) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #54 %57: i64[176] = all_reduce(%54) {unit = -1, axes = (dp, tp), comm = reduce, tag = metric}
  #55 %58: f32[16] = factored_means(%55, %56, %52, %4) {group = 0}
  #57 %59: i64[48] = factored_rms(%58, %45, %52) {group = 0, eps = 1.1920928955078125e-07, clip_value = 0}
  #59 %61: f32[55] = factored_means(%60, %57, %52, %4) {group = 1}
  #61 %62: i64[72] = factored_rms(%61, %44, %52) {group = 1, eps = 1.1920928955078125e-07, clip_value = 0}
  #62 %63: i64[48] = all_reduce(%59) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #63 %64: i64[72] = all_reduce(%62) {unit = -1, axes = (dp, tp), comm = reduce, tag = metric}
