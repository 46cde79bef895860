# RUN: %fsdpc dump --stage=shard -n 3 none.fsd | sed -n 's/^group //p'
# RUN: %fsdpc dump --stage=shard -n 1 full.fsd | sed -n 's/^group //p'
# With strategy none, and on one rank, every rank holds a whole group, not padded for ranks.
==== none.fsd
module M { a : param[5, 3] = zeros @frozen; b : param[3] = zeros @frozen; n : N }
module N { c : param[1, 2] = zeros @frozen; d : param[3, 2] = zeros @frozen }
module Net {
  m : M
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = M; strategy = none }
==== full.fsd
module M { a : param[5, 3] = zeros @frozen; b : param[3] = zeros @frozen; n : N }
module N { c : param[1, 2] = zeros @frozen; d : param[3, 2] = zeros @frozen }
module Net {
  m : M
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = M }
==== out
0 unit 0 frozen master f32 compute f32 reduce f32 params 1@0, 2@16, 3@20, 4@24 unpadded 30 padded 30 shard 30
1 unit 1 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 6 padded 6 shard 6
0 unit 0 frozen master f32 compute f32 reduce f32 params 1@0, 2@16, 3@20, 4@24 unpadded 30 padded 30 shard 30
1 unit 1 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 6 padded 6 shard 6
