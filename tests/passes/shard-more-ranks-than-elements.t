# RUN: %fsdpc dump --stage=shard -n 24 -s shard.align=none %s | sed -n 's/^group //p'
# Ranks past the end hold padding only.
==== abcd.fsd
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
0 unit 0 frozen master f32 compute f32 reduce f32 params 1@0, 2@15, 3@18, 4@20 unpadded 26 padded 48 shard 2 split (dp)
1 unit 1 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 6 padded 24 shard 1 split (dp)
