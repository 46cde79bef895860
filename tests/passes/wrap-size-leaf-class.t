# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(40, leaf = [Attention])' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(40, leaf = [Attention, Linear10])' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(40)' %s | sed -n 's/^unit //p'
# A leaf class is never a unit, however large, and nothing inside of it is.
==== leaf.fsd
module P(n) { w : param[n] = zeros @frozen }
module Linear10 { w : param[10, 10] = zeros @frozen; b : param[10] = zeros @frozen }
module Attention { qkv : P(30000); out : P(10000) }
module Net {
  a : Linear10
  b : Attention
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
0 "a" Linear10 modules 1 groups 0 below 110 owned 110
1 "" Net modules 0 groups 1, 2 below 40116 owned 40006 root
0 "" Net modules 0 groups 0, 1 below 40116 owned 40116 root
0 "a" Linear10 modules 1 groups 0 below 110 owned 110
1 "b.qkv" P modules 3 groups 1 below 30000 owned 30000
2 "b.out" P modules 4 groups 2 below 10000 owned 10000
3 "" Net modules 0 groups 3 below 40116 owned 6 root
