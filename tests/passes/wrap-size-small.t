# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(24)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(25)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(50)' %s | sed -n 's/^unit //p'
# The size policy wraps inner modules first: 24 is reached by what b.a.z leaves in b.a, 25 is not.
==== c.fsd
module P(n) { w : param[n] = zeros @frozen }
module A { x, y : P(12); z : P(90) }
module B { a : A; p, q : P(30) }
module C {
  b : B
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = C
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
0 "b.a.z" P modules 5 groups 0 below 90 owned 90
1 "b.a" A modules 2 groups 1 below 114 owned 24
2 "b.p" P modules 6 groups 2 below 30 owned 30
3 "b.q" P modules 7 groups 3 below 30 owned 30
4 "" C modules 0 groups 4 below 180 owned 6 root
0 "b.a.z" P modules 5 groups 0 below 90 owned 90
1 "b.p" P modules 6 groups 1 below 30 owned 30
2 "b.q" P modules 7 groups 2 below 30 owned 30
3 "" C modules 0 groups 3, 4 below 180 owned 30 root
0 "b.a.z" P modules 5 groups 0 below 90 owned 90
1 "b" B modules 1 groups 1 below 174 owned 84
2 "" C modules 0 groups 2 below 180 owned 6 root
