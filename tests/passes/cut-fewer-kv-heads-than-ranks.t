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
param 0 "e.weight" f32
param 1 "q.weight" f32 cut (tp) dim 0 outer 1 size 2
param 2 "k.weight" f32 cut (tp) dim 0 outer 1 size 2
param 3 "v.weight" f32 cut (tp) dim 0 outer 1 size 2
param 4 "o.weight" f32 cut (tp) dim 1 outer 1 size 2
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16, whole_rows = true
  #15 %15: f32[4, 6, 4*tp, 2], %16: f32[4, 4*tp, 6] = attention(%8, %11, %14) {causal = true, alpha = 0.7071067811865475}
  #19 %20: f32[4, 6, 32] = all_reduce(%19) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #27 %27: f32[4, 6, 4*tp, 2], %28: f32[4, 6, 1*tp, 2], %29: f32[4, 6, 1*tp, 2] = attention_grad(%26, %8, %11, %14, %15, %16) {causal = true, alpha = 0.7071067811865475}
  #42 %41: f32[4, 6, 8] = all_reduce(%40) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #60 %58: f32[4, 6, 4*tp, 2], %59: f32[4, 4*tp, 6] = attention(%51, %54, %57) {causal = true, alpha = 0.7071067811865475}
  #64 %63: f32[4, 6, 32] = all_reduce(%62) {unit = -1, axes = (tp), comm = reduce, tag = activation}
mesh tp = 2, twin = 2
param 0 "e.weight" f32
param 1 "q.weight" f32 cut (tp, twin) dim 0 outer 1 size 8
param 2 "k.weight" f32 cut (tp) dim 0 outer 1 size 2
param 3 "v.weight" f32 cut (tp) dim 0 outer 1 size 2
param 4 "o.weight" f32 cut (tp, twin) dim 1 outer 1 size 8
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16, whole_rows = true
  #15 %15: f32[4, 6, 2*tp*twin, 2], %16: f32[4, 2*tp*twin, 6] = attention(%8, %11, %14) {causal = true, alpha = 0.7071067811865475}
  #19 %20: f32[4, 6, 32] = all_reduce(%19) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #27 %27: f32[4, 6, 2*tp*twin, 2], %28: f32[4, 6, 1*tp, 2]+twin, %29: f32[4, 6, 1*tp, 2]+twin = attention_grad(%26, %8, %11, %14, %15, %16) {causal = true, alpha = 0.7071067811865475}
  #30 %32: f32[2*tp, 8] = all_reduce(%31) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #35 %36: f32[2*tp, 8] = all_reduce(%35) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #44 %43: f32[4, 6, 8] = all_reduce(%42) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #62 %60: f32[4, 6, 2*tp*twin, 2], %61: f32[4, 2*tp*twin, 6] = attention(%53, %56, %59) {causal = true, alpha = 0.7071067811865475}
  #66 %65: f32[4, 6, 32] = all_reduce(%64) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
mesh tp = 2, twin = 4
param 0 "e.weight" f32
param 1 "q.weight" f32 cut (tp, twin) dim 0 outer 1 size 8
param 2 "k.weight" f32 cut (tp) dim 0 outer 1 size 2
param 3 "v.weight" f32 cut (tp) dim 0 outer 1 size 2
param 4 "o.weight" f32 cut (tp, twin) dim 1 outer 1 size 8
policy strategy = full, unit = root, reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16, whole_rows = true
  #15 %15: f32[4, 6, 1*tp*twin, 2], %16: f32[4, 1*tp*twin, 6] = attention(%8, %11, %14) {causal = true, alpha = 0.7071067811865475}
  #19 %20: f32[4, 6, 32] = all_reduce(%19) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #27 %27: f32[4, 6, 1*tp*twin, 2], %28: f32[4, 6, 1*tp, 2]+twin, %29: f32[4, 6, 1*tp, 2]+twin = attention_grad(%26, %8, %11, %14, %15, %16) {causal = true, alpha = 0.7071067811865475}
  #30 %32: f32[2*tp, 8] = all_reduce(%31) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #35 %36: f32[2*tp, 8] = all_reduce(%35) {unit = -1, axes = (twin), comm = reduce, tag = activation}
  #44 %43: f32[4, 6, 8] = all_reduce(%42) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
  #62 %60: f32[4, 6, 1*tp*twin, 2], %61: f32[4, 1*tp*twin, 6] = attention(%53, %56, %59) {causal = true, alpha = 0.7071067811865475}
  #66 %65: f32[4, 6, 32] = all_reduce(%64) {unit = -1, axes = (tp, twin), comm = reduce, tag = activation}
