# RUN: %fsdpc dump --stage=shard -n 2 %s | sed -n 's/^unit //p'
# One unit for a model with a repeated block gathers everything at once: a warning.
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
0 "" Net modules 0 groups 0, 1 below 30 owned 30 root
==== err
warning[W0401]: one unit of 30 parameters is gathered at once; write unit = Block
  = help: that is 120 bytes on every rank, as much as without sharding

