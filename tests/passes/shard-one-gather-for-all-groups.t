# RUN: %fsdpc dump --stage=sched -n 2 -s 'train.precision=bf16' %s | %python %root/tests/passes/order.py
# RUN: %fsdpc dump --stage=comm -n 2 -s 'train.precision=bf16' %s | grep -o '= unshard.*!' | sort | uniq -c
# One gather takes all groups of a unit, and one reduction those that are reduced in one dtype, @f32 or not.
==== net.fsd
module M {
  a : param[2, 3] = zeros
  n : param[2] = ones @f32
  b : param[2, 2] = zeros @frozen
  forward(x) = linear(layer_norm(linear(x, a), n), b)
}
module Net {
  e : param[3, 3] = zeros
  m : M
  forward(ids: [B, S]) = m(gather(e, ids))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = M }
==== out
train: A:r A:m F:r F:m F:r | A:m B:m R:m B:r R:r U M
eval: A:r A:m F:r F:m F:r M
      1 = unshard(%13, %1, %14) {unit = 0, axes = (dp), comm = gather, tag = parameter} !
      1 = unshard(%29, %1, %30) {unit = 0, axes = (dp), comm = gather, tag = parameter} !
      1 = unshard(%4) {unit = 1, axes = (dp), comm = gather, tag = parameter} !
      1 = unshard(%67) {unit = 1, axes = (dp), comm = gather, tag = parameter} !
      1 = unshard(%76, %64, %77) {unit = 0, axes = (dp), comm = gather, tag = parameter} !
