# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(4)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(8)' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(9)' %s | sed -n 's/^unit //p'
# The size policy counts a tied parameter once, at the lowest module around its names.
==== net.fsd
module Net {
  wte  : Embedding(4, 2)
  head : Linear(2, 4)
  low  : Linear(2, 2)
  tie head.weight = wte.weight
  forward(ids: [B, S]) = head(low(wte(ids)))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
0 "low" Linear modules 3 groups 0 below 4 owned 4
1 "" Net modules 0 groups 1 below 12 owned 8 root
0 "" Net modules 0 groups 0 below 12 owned 12 root
0 "" Net modules 0 groups 0 below 12 owned 12 root
