# RUN: for s in full none; do %fsdpc dump --stage=comm -n 2 -s shard.strategy=$s -s 'train.optimizer=muon()' %s | sed -n '/program train/,/program/p' | grep -E 'reduce[^ ]*\(|muon|adam'; done
# The momentum of a unit's matrices is summed over ranks in one collective, during the update of the unit before; whole momentum is not sent.
==== net.fsd
module Net {
  emb : Embedding(8, 4)
  w : Linear(4, 8)[2]
  v : Linear(8, 4)
  out : Linear(4, 8)
  forward(x) = out(v(relu(w[0](emb(x)) + w[1](emb(x)))))
}
model = Net
data { train = synthetic_tokens(vocab = 8); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 4 }
shard { unit = Linear }
==== out
  #38 %39: f32[16] = reduce_scatter(%38) {unit = 3, axes = (dp), comm = reduce, tag = gradient} !backward unit 3 "out" 1:5:3-5:6
  #46 %47: f32[16] = reduce_scatter(%46) {unit = 2, axes = (dp), comm = reduce, tag = gradient} !backward unit 2 "v" 1:4:3-4:4
  #55 %56: f32[16] = reduce_scatter(%55) {unit = 1, axes = (dp), comm = reduce, tag = gradient} !backward unit 1 "w.1" 1:3:3-3:4
  #64 %65: f32[16] = reduce_scatter(%64) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 "w.0" 1:3:3-3:4
  #68 %69: f32[16] = reduce_scatter(%68) {unit = 4, axes = (dp), comm = reduce, tag = gradient} !backward unit 4 - 1:8:9-8:12
  #79 %80: i64[24], %81: i64[24] = all_reduce(%32, %78) {unit = -1, axes = (dp), comm = reduce, tag = metric} !update - 1:8:9-8:12
  #84 %84: f32[16], %85: f32[64] = muon_momentum(%83, %65, %82) {group = 0, nesterov = true, momentum = 0.95, clip_value = 0} !update "w.0" 1:3:3-3:4
  #85 %86: f32[64] = all_reduce(%85) {unit = 0, axes = (dp), comm = reduce, tag = momentum} !update "w.0" 1:3:3-3:4
  #88 %88: f32[16], %89: f32[64] = muon_momentum(%87, %56, %82) {group = 1, nesterov = true, momentum = 0.95, clip_value = 0} !update "w.1" 1:3:3-3:4
  #89 %90: f32[64] = all_reduce(%89) {unit = 1, axes = (dp), comm = reduce, tag = momentum} !update "w.1" 1:3:3-3:4
  #91 %91: f32[16], %92: i64[160] = muon(%0, %86, %82, %6) {group = 0, steps = 5, rate = original, weight_decay = 0.1} !update "w.0" 1:3:3-3:4
  #94 %94: f32[16], %95: f32[64] = muon_momentum(%93, %47, %82) {group = 2, nesterov = true, momentum = 0.95, clip_value = 0} !update "v" 1:4:3-4:4
  #95 %96: f32[64] = all_reduce(%95) {unit = 2, axes = (dp), comm = reduce, tag = momentum} !update "v" 1:4:3-4:4
  #97 %97: f32[16], %98: i64[160] = muon(%1, %90, %82, %6) {group = 1, steps = 5, rate = original, weight_decay = 0.1} !update "w.1" 1:3:3-3:4
  #99 %99: f32[16], %100: i64[160] = muon(%2, %96, %82, %6) {group = 2, steps = 5, rate = original, weight_decay = 0.1} !update "v" 1:4:3-4:4
  #103 %103: f32[16], %104: f32[16], %105: f32[16] = adam(%3, %101, %102, %39, %82, %6) {group = 3, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.1, clip_value = 0} !update "out" 1:5:3-5:6
  #109 %108: f32[16], %109: f32[16], %110: f32[16] = adam(%4, %106, %107, %69, %82, %6) {group = 4, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.1, clip_value = 0} !update - 1:8:9-8:12
  #25 %26: f32[32] = all_reduce(%25) {unit = 3, axes = (dp), comm = reduce, tag = gradient} !backward unit 3 "out" 1:5:3-5:6
  #29 %30: f32[32] = all_reduce(%29) {unit = 2, axes = (dp), comm = reduce, tag = gradient} !backward unit 2 "v" 1:4:3-4:4
  #34 %35: f32[32] = all_reduce(%34) {unit = 1, axes = (dp), comm = reduce, tag = gradient} !backward unit 1 "w.1" 1:3:3-3:4
  #39 %40: f32[32] = all_reduce(%39) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 "w.0" 1:3:3-3:4
  #42 %43: f32[32] = all_reduce(%42) {unit = 4, axes = (dp), comm = reduce, tag = gradient} !backward unit 4 - 1:8:9-8:12
  #52 %53: i64[24], %54: i64[24] = all_reduce(%22, %52) {unit = -1, axes = (dp), comm = reduce, tag = metric} !update - 1:8:9-8:12
  #57 %57: f32[32], %58: f32[64] = muon_momentum(%56, %40, %55) {group = 0, nesterov = true, momentum = 0.95, clip_value = 0} !update "w.0" 1:3:3-3:4
  #60 %60: f32[32], %61: f32[64] = muon_momentum(%59, %35, %55) {group = 1, nesterov = true, momentum = 0.95, clip_value = 0} !update "w.1" 1:3:3-3:4
  #62 %62: f32[32], %63: i64[160] = muon(%0, %58, %55, %5) {group = 0, steps = 5, rate = original, weight_decay = 0.1} !update "w.0" 1:3:3-3:4
  #65 %65: f32[32], %66: f32[64] = muon_momentum(%64, %30, %55) {group = 2, nesterov = true, momentum = 0.95, clip_value = 0} !update "v" 1:4:3-4:4
  #67 %67: f32[32], %68: i64[160] = muon(%1, %61, %55, %5) {group = 1, steps = 5, rate = original, weight_decay = 0.1} !update "w.1" 1:3:3-3:4
  #69 %69: f32[32], %70: i64[160] = muon(%2, %66, %55, %5) {group = 2, steps = 5, rate = original, weight_decay = 0.1} !update "v" 1:4:3-4:4
  #73 %73: f32[32], %74: f32[32], %75: f32[32] = adam(%3, %71, %72, %26, %55, %5) {group = 3, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.1, clip_value = 0} !update "out" 1:5:3-5:6
  #79 %78: f32[32], %79: f32[32], %80: f32[32] = adam(%4, %76, %77, %43, %55, %5) {group = 4, decoupled = true, eps = 1e-08, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.1, clip_value = 0} !update - 1:8:9-8:12
