# RUN: for m in dp=1 tp=3; do echo $m && %fsdpc dump --stage=precision --mesh $m %s | grep -o 'f[0-9]*\[[^=]*= slice_grad\|f.*= all_gather_part(.*backward'; done
# RUN: %fsdpc compile -q --mesh tp=3 %s -o %t/plan && %fsdpc check %t/plan
# A gradient whose elements only move keeps the reduce dtype at each move, also between ranks that share out rows.
==== net.fsd
module Net {
  first : param[17, 3] = normal(0.5)
  mid   : Linear(5, 5)
  h     : Linear(5, 6)
  forward(f: [B, F]) {
    y = tanh(mid(linear(f, first[2:, :-1]) as [B, 3, 5]))
    return h(mean(y, axis = 1)[:, 0])
  }
}
model = Net
data  { train = synthetic(a = [2], b = 6) }
train { loss = cross_entropy(model(a), b); batch = 2; steps = 3; optimizer = sgd(lr = 0.02); precision = bf16 }
shard { mesh = (tp = 3) }
==== out
dp=1
f32[15, 3] = slice_grad
f32[17, 3] = slice_grad
tp=3
f32[5*tp, 3] = slice_grad
f32[15, 3] = all_gather_part(%33) {unit = -1, axis = 0, count = 1, axes = (tp), comm = reduce, tag = activation} !backward
f32[17, 3] = slice_grad
