# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[["h.*"]]' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[["*.i"], ["h.1", "h.0"]]' %s | sed -n 's/^unit //p'
# A glob takes every module that it matches, the outermost ones, never an array.
==== net.fsd
module Inner { p : P(7) }
module Block { i : Inner; p : P(5) }
module P(n) { w : param[n] = zeros @frozen }
module Net {
  h : Block[2]
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
0 "h.0+h.1" Block modules 2, 6 groups 0 below 24 owned 24
1 "" Net modules 0 groups 1 below 30 owned 6 root
0 "h.0.i+h.1.i" Inner modules 3, 7 groups 0 below 14 owned 14
1 "h.0+h.1" Block modules 2, 6 groups 1 below 24 owned 10
2 "" Net modules 0 groups 2 below 30 owned 6 root
