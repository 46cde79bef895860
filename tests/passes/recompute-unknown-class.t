# RUN: %fsdpc dump --stage=shard -s 'shard.recompute=[Block, Iner]' %s
# A class to recompute that no module has is an error, with the nearest name.
==== net.fsd
module Inner { w : param[4] = zeros; forward(x) = x + w }
module Block { i : Inner; forward(x) = i(x) }
module Net {
  h : Block[2]
  e : param[3, 4] = zeros
  forward(ids: [B, S]) { x = gather(e, ids); for b in h { x = b(x) }; return x }
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0401]: recompute = Iner: no module of that class; did you mean Inner?
 --> -s:1:17
  |
1 | shard.recompute=[Block, Iner]
  |                 ^^^^^^^^^^^^^

==== exit 1
