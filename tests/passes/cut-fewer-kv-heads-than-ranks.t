# RUN: for tp in 2 4 8; do %fsdpc dump --stage=place %s -s "shard.mesh=(tp = $tp)" > %t/g; grep '^mesh\|^param' %t/g | sed 's/ module.* f32/ f32/; s/ normal.* reduce f32//'; sed -n '/attention\|all_reduce/p' %t/g | sed 's/ *!.*//'; done
# Fewer KV heads than ranks along tp: the axis becomes tp x twin. Along twin ranks have the same KV
# heads and share out the heads that read them, whose contributions to these are added up; all
# other widths are shared out over both axes, and summed over both at once.
==== net.fsd
module Net {
  e : Embedding(32, 8)
  q : Linear(8, 16)
  k : Linear(8, 4)
  v : Linear(8, 4)
  o : Linear(16, 32)
  forward(ids: [B, T]) {
    x = e(ids)
    y = attention(q(x) as [B, T, 8, 2], k(x) as [B, T, 2, 2], v(x) as [B, T, 2, 2], causal = true)
    return o(y as [B, T, 16])
  }
}
model = Net
data  { train = synthetic_tokens(32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { rows = false }
==== out
mesh tp = 2
param 0 "e.weight" f32 cut (tp) dim 0 outer 1 size 32
param 1 "q.weight" f32 cut (tp) dim 0 outer 1 size 2
param 2 "k.weight" f32 cut (tp) dim 0 outer 1 size 2
param 3 "v.weight" f32 cut (tp) dim 0 outer 1 size 2
param 4 "o.weight" f32 cut (tp) dim 1 outer 1 size 2
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16, whole_rows = true
  #7 %7: f32[4, 6, 8] = all_reduce(%5) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #16 %16: f32[4, 6, 4*tp, 2], %17: f32[4, 4*tp, 6] = attention(%9, %12, %15) {causal = true, alpha = 0.7071067811865475}
  #20 %21: f32[4, 6, 32] = all_reduce(%20) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #28 %28: f32[4, 6, 4*tp, 2], %29: f32[4, 6, 1*tp, 2], %30: f32[4, 6, 1*tp, 2] = attention_grad(%27, %9, %12, %15, %16, %17) {causal = true, alpha = 0.7071067811865475}
  #43 %42: f32[4, 6, 8] = all_reduce(%41) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #54 %52: f32[4, 6, 8] = all_reduce(%50) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #63 %61: f32[4, 6, 4*tp, 2], %62: f32[4, 4*tp, 6] = attention(%54, %57, %60) {causal = true, alpha = 0.7071067811865475}
  #67 %66: f32[4, 6, 32] = all_reduce(%65) {unit = -1, axes = (tp), comm = reduce, tag = activation}
mesh tp = 2, twin = 2
param 0 "e.weight" f32 cut (tp, twin) dim 0 outer 1 size 32
param 1 "q.weight" f32 cut (tp, twin) dim 0 outer 1 size 8
param 2 "k.weight" f32 cut (tp) dim 0 outer 1 size 2
param 3 "v.weight" f32 cut (tp) dim 0 outer 1 size 2
param 4 "o.weight" f32 cut (tp, twin) dim 1 outer 1 size 8
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16, whole_rows = true
  #7 %7: f32[4, 6, 8] = all_reduce(%5) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #16 %16: f32[4, 6, 2*tp*twin, 2], %17: f32[4, 2*tp*twin, 6] = attention(%9, %12, %15) {causal = true, alpha = 0.7071067811865475}
  #20 %21: f32[4, 6, 32] = all_reduce(%20) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #28 %28: f32[4, 6, 2*tp*twin, 2], %29: f32[4, 6, 1*tp, 2]+twin, %30: f32[4, 6, 1*tp, 2]+twin = attention_grad(%27, %9, %12, %15, %16, %17) {causal = true, alpha = 0.7071067811865475}
  #31 %33: f32[2*tp, 8] = all_reduce(%32) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #36 %37: f32[2*tp, 8] = all_reduce(%36) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #45 %44: f32[4, 6, 8] = all_reduce(%43) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #57 %55: f32[4, 6, 8] = all_reduce(%53) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #66 %64: f32[4, 6, 2*tp*twin, 2], %65: f32[4, 2*tp*twin, 6] = attention(%57, %60, %63) {causal = true, alpha = 0.7071067811865475}
  #70 %69: f32[4, 6, 32] = all_reduce(%68) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
mesh tp = 2, twin = 4
param 0 "e.weight" f32 cut (tp, twin) dim 0 outer 1 size 32
param 1 "q.weight" f32 cut (tp, twin) dim 0 outer 1 size 8
param 2 "k.weight" f32 cut (tp) dim 0 outer 1 size 2
param 3 "v.weight" f32 cut (tp) dim 0 outer 1 size 2
param 4 "o.weight" f32 cut (tp, twin) dim 1 outer 1 size 8
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16, whole_rows = true
  #7 %7: f32[4, 6, 8] = all_reduce(%5) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #16 %16: f32[4, 6, 1*tp*twin, 2], %17: f32[4, 1*tp*twin, 6] = attention(%9, %12, %15) {causal = true, alpha = 0.7071067811865475}
  #20 %21: f32[4, 6, 32] = all_reduce(%20) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #28 %28: f32[4, 6, 1*tp*twin, 2], %29: f32[4, 6, 1*tp, 2]+twin, %30: f32[4, 6, 1*tp, 2]+twin = attention_grad(%27, %9, %12, %15, %16, %17) {causal = true, alpha = 0.7071067811865475}
  #31 %33: f32[2*tp, 8] = all_reduce(%32) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #36 %37: f32[2*tp, 8] = all_reduce(%36) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #45 %44: f32[4, 6, 8] = all_reduce(%43) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #57 %55: f32[4, 6, 8] = all_reduce(%53) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #66 %64: f32[4, 6, 1*tp*twin, 2], %65: f32[4, 1*tp*twin, 6] = attention(%57, %60, %63) {causal = true, alpha = 0.7071067811865475}
  #70 %69: f32[4, 6, 32] = all_reduce(%68) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
