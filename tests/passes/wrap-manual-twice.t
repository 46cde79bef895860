# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[["h.0"], ["h.0", "h.1"]]' %s
# A module is in one unit only.
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
==== err
error[E0404]: module h.0 is in two units
 --> -s:1:12
  |
1 | shard.unit=[["h.0"], ["h.0", "h.1"]]
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1
