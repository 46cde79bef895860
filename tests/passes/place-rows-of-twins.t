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
  #7 %7: f32[3, 8, 8] = all_reduce(%5) {axes = (tp, twin)}
  #20 %21: f32[3, 4*tp, 8] = part(%7) {axis = 1, count = 1, axes = (tp)}
  #21 %22: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%20) {axis = 1, count = 1, axes = (tp, twin)}
  #22 %23: f32[3, 2*tp*twin, 8] = part(%21) {axis = 1, count = 1, axes = (twin)}
  #28 %31: f32[3, 8, 8] = all_gather_part(%27) {axis = 1, count = 1, axes = (tp, twin)}
  #33 %36: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%35) {axis = 1, count = 1, axes = (tp, twin)}
  #36 %39: f32[3, 8, 8] = all_gather_part(%37) {axis = 1, count = 1, axes = (tp, twin)}
  #38 %41: f32[3, 8, 1*tp, 3] = cross_entropy_part(%40, %3) {ignore = -100}
  #39 %42: f32[3, 8, 2, 3] = all_gather_part(%41) {axis = 2, count = 1, axes = (tp)}
  #43 %46: f32[3, 8, 8] = all_gather_part(%37) {axis = 1, count = 1, axes = (tp, twin)}
  #47 %49: f32[3, 8, 8] = all_reduce(%48) {axes = (tp)}
  #52 %53: f32[3, 8, 8] = all_gather_part(%27) {axis = 1, count = 1, axes = (tp, twin)}
  #56 %56: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%55) {axis = 1, count = 1, axes = (tp, twin)}
  #62 %60: f32[3, 4*tp, 8] = part(%49) {axis = 1, count = 1, axes = (tp)}
  #63 %61: f32[3, 2*tp*twin, 8] = part(%60) {axis = 1, count = 1, axes = (twin)}
  #65 %63: f32[3, 8, 8] = all_gather_part(%62) {axis = 1, count = 1, axes = (tp, twin)}
  #75 %73: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%72) {axis = 1, count = 1, axes = (tp, twin)}
  #81 %78: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%77) {axis = 1, count = 1, axes = (tp, twin)}
  #87 %83: f32[3, 2*tp*twin, 8] = reduce_scatter_part(%82) {axis = 1, count = 1, axes = (tp, twin)}
  #89 %85: i32[3, 4*tp] = part(%2) {axis = 1, count = 1, axes = (tp)}
  #90 %86: i32[3, 2*tp*twin] = part(%85) {axis = 1, count = 1, axes = (twin)}
  #92 %88: f32[8*tp*twin, 8] = reduce_scatter_part(%87) {axis = 0, count = 1, axes = (tp, twin)}
