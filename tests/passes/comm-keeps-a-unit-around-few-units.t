# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=1 %s | %python %root/tests/passes/order.py
# Between the uses of a only unit b runs, in two parts with the root between them: one unit, so a is kept.
==== net.fsd
module U { w : param[3, 3] = zeros; forward(x) = relu(linear(x, w)) }
module Net {
  e : param[3, 3] = zeros
  a, b : U
  forward(ids: [B, S]) = a(b(gelu(b(a(gather(e, ids))))))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = U }
==== out
train: A:r A:a F:r A:b F:a F:b F:r F:b F:a F:r | A:a A:b B:a B:b R:b B:a R:a B:r R:r U M
eval: A:r A:a F:r A:b F:a F:b F:r F:b F:a F:r M
==== err
note[W0405]: used several times, kept gathered in between: a

