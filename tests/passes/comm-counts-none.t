# RUN: %fsdpc dump --stage=sched -n 2 %s | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s train.accumulate=2 %s | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s train.accumulate=2 -s shard.accumulate=local %s | %python %root/tests/passes/order.py --counts
# Strategy none: no gather, an all_reduce for each unit, once a step when gradients add up locally.
==== t.fsd
# Model T of the sharding tests: the root owns emb and head (36 elements), u0 24, u1 48, u2 80
module Unit(inp, out) {
  weight : param[out, inp] = normal(0.02)
  forward(x) = relu(linear(x, weight))
}
module T {
  emb  : Embedding(4, 4)
  u0   : Unit(4, 6)
  u1   : Unit(6, 8)
  u2   : Unit(8, 10)
  head : Linear(10, 2)
  forward(ids: [B, S]) = head(u2(u1(u0(emb(ids)))))
}
model = T
data  { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = Unit; strategy = none }
==== out
train: 4 S 1 M
eval: 1 M
first: 4 S
last: 4 S 1 M
eval: 1 M
first:
last: 4 S 1 M
eval: 1 M
