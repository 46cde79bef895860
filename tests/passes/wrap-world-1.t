# RUN: %fsdpc dump --stage=shard -n 1 -s shard.unit=Block %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -n 2 -s shard.unit=Block %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -n 1 -s shard.unit=root %s | sed -n 's/^unit //p'
# One rank has the same units as two, and no warning about the root.
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
0 "h.0" Block modules 2 groups 0 below 12 owned 12
1 "h.1" Block modules 6 groups 1 below 12 owned 12
2 "" Net modules 0 groups 2 below 30 owned 6 root
0 "h.0" Block modules 2 groups 0 below 12 owned 12
1 "h.1" Block modules 6 groups 1 below 12 owned 12
2 "" Net modules 0 groups 2 below 30 owned 6 root
0 "" Net modules 0 groups 0, 1 below 30 owned 30 root
