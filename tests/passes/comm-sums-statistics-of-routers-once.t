# RUN: %fsdpc dump --stage=comm -n 2 %s | grep -E ' (balance|balance_loss|balance_grad|all_reduce)\(' | sed 's/ !.*//'
# Statistics of all routers are one collective in forward, before the loss and its gradient read them.
==== m.fsd
config { D = 6; V = 11; E = 3 }
module Expert {
  up, down : Linear(D, D)
  forward(x) = down(silu(up(x)))
}
module Net {
  wte, head : Embedding(V, D)
  gate : Linear(D, E)
  experts : Expert[E]
  forward(ids: [B, T]) {
    x = wte(ids)
    p, idx = topk(softmax(gate(x)), 2)
    aux(load_balance(gate(x), idx), weight = 0.5)
    aux(load_balance(2 * gate(x), idx), weight = 1)
    return linear(combine(experts(dispatch(x, idx)), idx, p), head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
  #30 %34: i64[8] = balance(%13, %12, %5) {ignore = -100, alpha = 0.5}
  #31 %35: i64[8] = balance(%15, %12, %5) {ignore = -100, alpha = 1}
  #32 %36: i64[8], %37: i64[8] = all_reduce(%34, %35) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #33 %38: i64[24] = balance_loss(%33, %36) {alpha = 0.5}
  #34 %39: i64[24] = balance_loss(%38, %37) {alpha = 1}
  #35 %40: f32[2, 8, 3] = balance_grad(%15, %37) {exponent = -5, alpha = 1}
  #36 %41: f32[2, 8, 3] = balance_grad(%13, %36) {exponent = -5, alpha = 0.5}
  #63 %72: i64[24], %73: i64[24] = all_reduce(%39, %70) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #104 %115: i64[8] = balance(%93, %92, %85) {ignore = -100, alpha = 0.5}
  #105 %116: i64[8] = balance(%95, %92, %85) {ignore = -100, alpha = 1}
  #106 %117: i64[8], %118: i64[8] = all_reduce(%115, %116) {unit = -1, axes = (dp), comm = reduce, tag = metric}
  #107 %119: i64[24] = balance_loss(%113, %117) {alpha = 0.5}
  #108 %120: i64[24] = balance_loss(%119, %118) {alpha = 1}
  #109 %121: i64[24] = all_reduce(%120) {unit = -1, axes = (dp), comm = reduce, tag = metric}
==== err
warning[W0401]: one unit of 366 parameters is gathered at once; write unit = Expert
  = help: that is 1.4 KiB on every rank, as much as without sharding

