# RUN: %fsdpc dump --stage=comm -n 4 -s shard.reshard=2 -s shard.prefetch=0 net.fsd | grep -E '^program|retain|unshard' | sed 's/ !.*//'
# A unit that is used twice is retained once; all its later gathers are made of these parts.
==== net.fsd
module L { w : param[4, 4] = normal(0.5)
  forward(x) = relu(linear(x, w)) }
module Net {
  e : Embedding(4, 4)
  a, b, c : L
  forward(ids) = a(c(b(a(e(ids)))))
}
model = Net
data  { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = L }
==== out
program train
  #4 %4: f32[16] = unshard(%3) {unit = 3, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #12 %12: f32[16] = unshard(%0) {unit = 0, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #15 %15: f32[8] = retain(%12) {group = 0, axes = (reshard_group)}
  #18 %18: f32[16] = unshard(%1) {unit = 1, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #21 %21: f32[8] = retain(%18) {group = 1, axes = (reshard_group)}
  #24 %24: f32[16] = unshard(%2, %16) {unit = 2, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #27 %27: f32[8] = retain(%24) {group = 2, axes = (reshard_group)}
  #30 %30: f32[16] = unshard(%15, %22) {unit = 0, axes = (reshard_group), comm = gather, tag = parameter}
  #36 %37: f32[16] = unshard(%15, %28) {unit = 0, axes = (reshard_group), comm = gather, tag = parameter}
  #42 %43: f32[16] = unshard(%27, %33) {unit = 2, axes = (reshard_group), comm = gather, tag = parameter}
  #50 %51: f32[16] = unshard(%21, %42) {unit = 1, axes = (reshard_group), comm = gather, tag = parameter}
  #59 %60: f32[16] = unshard(%15, %48) {unit = 0, axes = (reshard_group), comm = gather, tag = parameter}
program eval
  #96 %92: f32[16] = unshard(%91) {unit = 3, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #104 %100: f32[16] = unshard(%88) {unit = 0, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #107 %103: f32[8] = retain(%100) {group = 0, axes = (reshard_group)}
  #110 %106: f32[16] = unshard(%89) {unit = 1, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #115 %111: f32[16] = unshard(%90, %104) {unit = 2, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #120 %116: f32[16] = unshard(%103, %109) {unit = 0, axes = (reshard_group), comm = gather, tag = parameter}
==== err
note[W0405]: used several times, gathered each time: a

