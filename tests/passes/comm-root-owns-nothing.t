# RUN: %fsdpc dump --stage=sched -n 2 %s | %python %root/tests/passes/order.py
# RUN: %fsdpc dump --stage=sched -n 2 %s | %python %root/tests/passes/order.py --counts
# Where the root owns nothing there are 2U gathers: no unit of its own, ops outside of units have none.
==== net.fsd
module First {
  e : param[4, 3] = zeros
  w : param[3, 3] = zeros
  forward(ids) = linear(gather(e, ids), w)
}
module U { w : param[3, 3] = zeros; forward(x) = relu(linear(x, w)) }
module Net {
  f : First
  u, v : U
  forward(ids: [B, S]) = v(u(f(ids)))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = [First, U] }
==== out
train: A:f A:u F:f A:v F:u F:v F:- | A:v A:u B:v R:v A:f B:u R:u B:f R:f U M
eval: A:f A:u F:f A:v F:u F:v F:- M
train: 6 A 3 R 1 M
eval: 3 A 1 M
