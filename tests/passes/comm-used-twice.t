# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=1 %s | %python %root/tests/passes/order.py
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=2 -s shard.inflight=3 %s | %python %root/tests/passes/order.py
# A unit used twice is gathered again, unless no more other units run between than are prefetched;
# it is reduced once, behind its last contribution.
==== net.fsd
module U { w : param[3, 3] = zeros; forward(x) = relu(linear(x, w)) }
module Net {
  e : param[3, 3] = zeros
  a, b, c : U
  forward(ids: [B, S]) = a(c(b(a(gather(e, ids)))))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = U }
==== out
train: A:r A:a F:r A:b F:a A:c F:b A:a F:c F:a F:r | A:a A:c B:a A:b B:c R:c A:a B:b R:b B:a R:a B:r R:r U M
eval: A:r A:a F:r A:b F:a A:c F:b A:a F:c F:a F:r M
train: A:r A:a A:b F:r A:c F:a F:b F:c F:a F:r | A:a A:c A:b B:a B:c R:c B:b R:b B:a R:a B:r R:r U M
eval: A:r A:a A:b F:r A:c F:a F:b F:c F:a F:r M
==== err
note[W0405]: used several times, gathered each time: a

note[W0405]: used several times, kept gathered in between: a

