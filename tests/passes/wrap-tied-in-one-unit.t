# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[["wte", "head"]]' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s shard.unit=root -n 1 %s | sed -n 's/^unit //p'
# A parameter all of whose names are in one unit stays there, without a note.
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
0 "wte+head" Embedding modules 1, 2 groups 0 below 8 owned 8
1 "" Net modules 0 groups 1 below 12 owned 4 root
0 "" Net modules 0 groups 0 below 12 owned 12 root
