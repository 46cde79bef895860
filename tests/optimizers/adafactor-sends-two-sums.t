# RUN: %fsdpc dump --stage=comm -n 2 -s shard.unit=root -s 'train.optimizer=adafactor()' %s | sed -n '/program train/,/program/p' | grep -E 'all_reduce|factored|adafactor'
# All groups' sums are one collective, and so are the sizes of their steps.
==== net.fsd
module Net {
  emb : Embedding(8, 4)
  w : Linear(4, 8)
  g : param[4] = ones @f32
  forward(x) = w(emb(x) * g)
}
model = Net
data { train = synthetic_tokens(vocab = 8); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 4; precision = bf16 }
==== out
  #29 %32: i64[24], %33: i64[24] = all_reduce(%16, %30) {unit = -1, axes = (dp), comm = reduce, tag = metric} !update - 1:7:9-7:12
  #33 %35: i64[32] = factored_sums(%0, %26, %34) {group = 0, clip_value = 0} !update - 1:7:9-7:12
  #34 %36: i64[96] = factored_sums(%1, %27, %34) {group = 1, clip_value = 0} !update - 1:7:9-7:12
  #36 %38: i64[32], %39: i64[96] = all_reduce(%35, %36) {unit = -1, axes = (dp), comm = reduce, tag = metric} !update - 1:7:9-7:12
  #37 %40: f32[4] = factored_means(%37, %38, %34, %5) {group = 0} !update - 1:7:9-7:12
  #39 %41: i64[24] = factored_rms(%40, %26, %34) {group = 0, eps = 1.1920928955078125e-07, clip_value = 0} !update - 1:7:9-7:12
  #41 %43: f32[26] = factored_means(%42, %39, %34, %5) {group = 1} !update - 1:7:9-7:12
  #43 %44: i64[48] = factored_rms(%43, %27, %34) {group = 1, eps = 1.1920928955078125e-07, clip_value = 0} !update - 1:7:9-7:12
  #44 %45: i64[24], %46: i64[48] = all_reduce(%41, %44) {unit = -1, axes = (dp), comm = reduce, tag = metric} !update - 1:7:9-7:12
  #45 %47: f32[2] = adafactor(%0, %26, %34, %5, %40, %38, %45) {group = 0, eps = 1.1920928955078125e-07, eps2 = 0.001, limit = 1, weight_decay = 0, clip_value = 0} !update - 1:7:9-7:12
  #47 %48: f32[32] = adafactor(%1, %27, %34, %5, %43, %39, %46) {group = 1, eps = 1.1920928955078125e-07, eps2 = 0.001, limit = 1, weight_decay = 0, clip_value = 0} !update - 1:7:9-7:12
