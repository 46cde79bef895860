# RUN: %fsdpc dump --stage=shard -n 2 one.fsd | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -n 2 none.fsd | sed -n 's/^unit //p'
# There is no warning if nothing is sharded, or if there is no block to name.
==== one.fsd
module Net {
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== none.fsd
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
shard { strategy = none }
==== out
0 "" Net modules 0 groups 0 below 6 owned 6 root
0 "" Net modules 0 groups 0, 1 below 30 owned 30 root
