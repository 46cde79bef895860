# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[["h"]]' %s
# An array is not a unit: it has no forward.
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
error[E0403]: unit "h": an array of modules has no forward of its own
 --> -s:1:12
  |
1 | shard.unit=[["h"]]
  |            ^^^^^^^
  |
  = help: name its elements: "h.*"

==== exit 1
