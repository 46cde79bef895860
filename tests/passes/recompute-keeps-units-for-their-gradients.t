# RUN: %fsdpc dump --stage=sched -n 2 %s | %python %root/tests/passes/order.py
# Units inside what is recomputed are gathered for it once and stay until their gradients are made.
==== m.fsd
module L { w : param[4, 4] = normal(0.5); forward(x) = relu(linear(x, w)) }
module Stack { l : L[4]; forward(x) { for a in l { x = a(x) }; return x } }
module Net {
  e : Embedding(5, 4)
  s : Stack
  head : Linear(4, 5)
  forward(ids: [B, T]) = head(s(e(ids)))
}
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = L; recompute = Stack; prefetch = 0 }
==== out
train: A:r F:r A:s.l.0 F:s.l.0 A:s.l.1 F:s.l.1 A:s.l.2 F:s.l.2 A:s.l.3 F:s.l.3 F:r | B:r B:s.l.3 A:s.l.0 B:- A:s.l.1 A:s.l.2 A:s.l.3 B:s.l.3 R:s.l.3 B:s.l.2 R:s.l.2 B:s.l.1 R:s.l.1 B:s.l.0 R:s.l.0 B:r R:r U M
eval: A:r F:r A:s.l.0 F:s.l.0 A:s.l.1 F:s.l.1 A:s.l.2 F:s.l.2 A:s.l.3 F:s.l.3 F:r M
