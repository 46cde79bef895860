# RUN: %fsdpc dump --stage=shard -s shard.unit=Embedding %s | sed -n 's/^unit //p'
# A parameter of two units is owned by the lowest one around both; an empty unit is dropped.
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
0 "" Net modules 0 groups 0 below 12 owned 12 root
==== err
note[W0402]: wte.weight is tied to head.weight: both live in the root unit; unit wte would be empty and is dropped
 --> net.fsd:2:3
  |
2 |   wte  : Embedding(4, 2)
  |   ^^^
note: head.weight is the same parameter
 --> net.fsd:3:3
  |
3 |   head : Linear(2, 4)
  |   ^^^^

