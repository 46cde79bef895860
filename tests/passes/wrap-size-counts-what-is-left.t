# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(0)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(30)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(31)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(61)' %s | sed -n 's/^unit //p'
# A module is a unit of the size policy if what its own units leave still reaches the size.
# Arrays are looked through, units without parameters are dropped
# (two here).
==== net.fsd
module P(n) { w : param[n] = zeros @frozen }
module L { w : param[5, 5] = zeros @frozen; b : param[5] = zeros @frozen }
module Two { m : L[2] }
module Net {
  a, b : L
  c : Two
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
0 "a" L modules 1 groups 0 below 30 owned 30
1 "b" L modules 2 groups 1 below 30 owned 30
2 "c.m.0" L modules 5 groups 2 below 30 owned 30
3 "c.m.1" L modules 6 groups 3 below 30 owned 30
4 "" Net modules 0 groups 4 below 126 owned 6 root
0 "a" L modules 1 groups 0 below 30 owned 30
1 "b" L modules 2 groups 1 below 30 owned 30
2 "c.m.0" L modules 5 groups 2 below 30 owned 30
3 "c.m.1" L modules 6 groups 3 below 30 owned 30
4 "" Net modules 0 groups 4 below 126 owned 6 root
0 "c" Two modules 3 groups 0 below 60 owned 60
1 "" Net modules 0 groups 1, 2 below 126 owned 66 root
0 "" Net modules 0 groups 0, 1 below 126 owned 126 root
