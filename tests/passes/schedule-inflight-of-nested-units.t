# RUN: for k in 2 3; do %fsdpc dump --stage=sched -n 2 -s shard.inflight=$k %s | %python %root/tests/passes/overlap.py | grep train; done
# Nested units are gathered ahead at the default inflight; a larger one lets the next outer unit come earlier.
==== net.fsd
module I { w : param[3, 3] = zeros; forward(x) = linear(x, w) }
module O {
  a, b : param[3, 3] = zeros
  i, j : I
  forward(x) = linear(j(i(linear(x, a))), b)
}
module Net {
  e : param[3, 3] = zeros
  o : O[2]
  forward(ids: [B, S]) = o[1](o[0](gather(e, ids)))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = [O, I]; prefetch = 1 }
==== out
train: A:r@start A:o.0@start A:o.0.i@F:o.0 A:o.0.j@F:o.0.i A:o.1@F:o.0 A:o.1.i@F:o.1 A:o.1.j@F:o.1.i A:o.1@B:o.1 A:o.1.j@B:o.1 A:o.1.i@B:o.1.j A:o.0@B:o.1 A:o.0.j@B:o.0 A:o.0.i@B:o.0.j
train: A:r@start A:o.0@start A:o.0.i@F:o.0 A:o.0.j@F:o.0.i A:o.1@F:o.0.j A:o.1.i@F:o.1 A:o.1.j@F:o.1.i A:o.1@B:o.1 A:o.1.j@B:o.1 A:o.1.i@B:o.1.j A:o.0@B:o.1.i A:o.0.j@B:o.0 A:o.0.i@B:o.0.j
