# RUN: %fsdpc dump --stage=sched -n 2 -s shard.unit=P %s | %python %root/tests/passes/order.py
# A unit that nothing reads has no collective.
==== net.fsd
module Inner { p : P(7) }
module Block { i : Inner; p : P(5) }
module P(n) { w : param[n] = zeros @frozen }
module Net {
  h : Block[2]
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
train: A:r F:r | B:r R:r U M
eval: A:r F:r M
