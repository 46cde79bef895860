# RUN: %fsdpc dump --stage=sched -n 2 -s 'shard.prefetch=(forward = 0, backward = 1)' %s | %python %root/tests/passes/order.py
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 -s shard.inflight=1 %s | %python %root/tests/passes/order.py
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 -s shard.inflight=1 %s | %python %root/tests/passes/order.py --live
# An outer unit stays gathered around its inner one, and does not keep the next one from being gathered ahead.
==== net.fsd
module I { w : param[3, 3] = zeros; forward(x) = linear(x, w) }
module O {
  a, b : param[3, 3] = zeros
  i : I
  forward(x) = linear(i(linear(x, a)), b)
}
module Net {
  e : param[3, 3] = zeros
  o : O[2]
  forward(ids: [B, S]) = o[1](o[0](gather(e, ids)))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = [O, I] }
==== out
train: A:r F:r A:o.0 F:o.0 A:o.0.i F:o.0.i F:o.0 A:o.1 F:o.1 A:o.1.i F:o.1.i F:o.1 F:r | A:o.1 A:o.1.i B:o.1 B:o.1.i A:o.0 R:o.1.i B:o.1 R:o.1 A:o.0.i B:o.0 B:o.0.i R:o.0.i B:o.0 R:o.0 B:r R:r U M
eval: A:r F:r A:o.0 F:o.0 A:o.0.i F:o.0.i F:o.0 A:o.1 F:o.1 A:o.1.i F:o.1.i F:o.1 F:r M
train: A:r F:r A:o.0 F:o.0 A:o.0.i F:o.0.i F:o.0 A:o.1 F:o.1 A:o.1.i F:o.1.i F:o.1 F:r | A:o.1 B:o.1 A:o.1.i B:o.1.i R:o.1.i B:o.1 R:o.1 A:o.0 B:o.0 A:o.0.i B:o.0.i R:o.0.i B:o.0 R:o.0 B:r R:r U M
eval: A:r F:r A:o.0 F:o.0 A:o.0.i F:o.0.i F:o.0 A:o.1 F:o.1 A:o.1.i F:o.1.i F:o.1 F:r M
train: 2 alive
eval: 2 alive
