# RUN: %fsdpc dump --stage=sched -n 2 %s | %python %root/tests/passes/order.py
# A frozen unit between trained ones is gathered in backward (the gradient goes through it), not reduced.
==== net.fsd
module U(n) { w : param[n, n] = zeros; b : param[n] = zeros; forward(x) = relu(linear(x, w, b)) }
module V(n) { w : param[n, n] = zeros @frozen; b : param[n] = zeros @frozen; forward(x) = relu(linear(x, w, b)) }
module Net {
  e : param[3, 3] = zeros
  u0 : U(3)
  u1 : V(3)
  u2 : U(3)
  forward(ids: [B, S]) = u2(u1(u0(gather(e, ids))))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = [U, V]; prefetch = 0 }
==== out
train: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r | A:u2 B:u2 R:u2 A:u1 B:u1 A:u0 B:u0 R:u0 B:r R:r U M
eval: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r M
