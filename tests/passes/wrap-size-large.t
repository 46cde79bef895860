# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(85)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(100)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(120)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(180)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(181)' %s | sed -n 's/^unit //p'
# A module whose rest reaches the size is a unit, its parents count only what is then left.
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
1 "" C modules 0 groups 1, 2 below 180 owned 90 root
0 "b.a" A modules 2 groups 0 below 114 owned 114
1 "" C modules 0 groups 1, 2 below 180 owned 66 root
0 "b" B modules 1 groups 0 below 174 owned 174
1 "" C modules 0 groups 1 below 180 owned 6 root
0 "" C modules 0 groups 0, 1 below 180 owned 180 root
0 "" C modules 0 groups 0, 1 below 180 owned 180 root
