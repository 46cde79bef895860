# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[["h.0.ii"]]' %s
# A path without a module is an error, with the nearest one.
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
error[E0402]: unit "h.0.ii": no module of that path; did you mean "h.0.i"?
 --> -s:1:12
  |
1 | shard.unit=[["h.0.ii"]]
  |            ^^^^^^^^^^^^

==== exit 1
