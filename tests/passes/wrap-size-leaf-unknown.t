# RUN: %fsdpc dump --stage=shard -s 'shard.unit=size(40, leaf = [Atention])' %s
# A leaf class that no module has is an error.
==== leaf.fsd
module P(n) { w : param[n] = zeros @frozen }
module Linear10 { w : param[10, 10] = zeros @frozen; b : param[10] = zeros @frozen }
module Attention { qkv : P(30000); out : P(10000) }
module Net {
  a : Linear10
  b : Attention
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0401]: leaf = Atention: no module of that class; did you mean Attention?
 --> -s:1:12
  |
1 | shard.unit=size(40, leaf = [Atention])
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1
