# RUN: %fsdpc dump --stage=shard -s shard.unit=Block %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[Block, Inner]' %s | sed -n 's/^unit //p'
# RUN: %fsdpc dump --stage=shard -s shard.unit=P %s | sed -n 's/^unit //p'
# Every module of the named classes is a unit, inner before outer, the root last.
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
0 "h.0.i" Inner modules 3 groups 0 below 7 owned 7
1 "h.0" Block modules 2 groups 1 below 12 owned 5
2 "h.1.i" Inner modules 7 groups 2 below 7 owned 7
3 "h.1" Block modules 6 groups 3 below 12 owned 5
4 "" Net modules 0 groups 4 below 30 owned 6 root
0 "h.0.i.p" P modules 4 groups 0 below 7 owned 7
1 "h.0.p" P modules 5 groups 1 below 5 owned 5
2 "h.1.i.p" P modules 8 groups 2 below 7 owned 7
3 "h.1.p" P modules 9 groups 3 below 5 owned 5
4 "" Net modules 0 groups 4 below 30 owned 6 root
