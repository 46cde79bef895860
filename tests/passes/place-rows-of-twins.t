# RUN: %fsdpc dump --stage=place %s | sed -n '/^program train/,/^end/p' | grep 'part(\|all_reduce' | sed 's/ !.*//; s/unit = -1, //; s/, comm = reduce, tag = activation//'
# Fewer KV heads than ranks: rows are shared out among all ranks along tp, and move in one collective over both axes.
==== net.fsd
module Net {
  e : Embedding(32, 8)
  q : Linear(8, 16)
  k : Linear(8, 4)
  v : Linear(8, 4)
  o : Linear(16, 8)
  up : Linear(8, 16)
  down : Linear(16, 8)
  ln : LayerNorm(8)
  head : Linear(8, 32)
  forward(ids: [B, T]) {
    x = e(ids)
    y = attention(q(x) as [B, T, 8, 2], k(x) as [B, T, 2, 2], v(x) as [B, T, 2, 2], causal = true)
    x += o(y as [B, T, 16])
    x += down(relu(up(ln(x))))
    return head(x)
  }
}
model = Net
data  { train = synthetic_tokens(32); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 3; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 4) }
==== out
  #19 %20: f32[3, 4*tp, 8] = part(%5) {axis = 1, count = 1, axes = (tp)}
  #20 %21: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%19) {axis = 1, count = 1, axes = (tp, twin)}
  #21 %22: f32[3, 2*tp*twin, 8] = part(%20) {axis = 1, count = 1, axes = (twin)}
  #27 %30: f32[3, 8, 8] = all_gather_part(%26) {axis = 1, count = 1, axes = (tp, twin)}
  #32 %35: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%34) {axis = 1, count = 1, axes = (tp, twin)}
  #36 %39: i32[3, 4*tp] = part(%3) {axis = 1, count = 1, axes = (tp)}
  #37 %40: i32[3, 2*tp*twin] = part(%39) {axis = 1, count = 1, axes = (twin)}
  #39 %43: i64[24] = all_reduce(%41) {axes = (tp, twin)}
  #45 %47: f32[3, 8, 8] = all_gather_part(%46) {axis = 1, count = 1, axes = (tp, twin)}
  #50 %51: f32[3, 8, 8] = all_gather_part(%26) {axis = 1, count = 1, axes = (tp, twin)}
  #54 %54: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%53) {axis = 1, count = 1, axes = (tp, twin)}
  #61 %59: f32[3, 8, 8] = all_gather_part(%58) {axis = 1, count = 1, axes = (tp, twin)}
  #71 %69: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%68) {axis = 1, count = 1, axes = (tp, twin)}
  #77 %74: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%73) {axis = 1, count = 1, axes = (tp, twin)}
  #83 %79: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%78) {axis = 1, count = 1, axes = (tp, twin)}
  #85 %81: i32[3, 4*tp] = part(%2) {axis = 1, count = 1, axes = (tp)}
  #86 %82: i32[3, 2*tp*twin] = part(%81) {axis = 1, count = 1, axes = (twin)}
