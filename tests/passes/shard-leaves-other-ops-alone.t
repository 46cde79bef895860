# RUN: %fsdpc dump --stage=train %s > %t/train
# RUN: < %t/train %python %root/tests/passes/order.py --compute | cut -d' ' -f2 | grep -vxE 'param|set_grad' > %t/before
# RUN: %fsdpc opt --pass=wrap,shard %t/train | %python %root/tests/passes/order.py --compute | cut -d' ' -f2 | grep -vxE 'param|gradient' > %t/after
# RUN: diff %t/before %t/after && wc -l < %t/after
# Ops unrelated to single parameters stay unchanged and in order.
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
23
