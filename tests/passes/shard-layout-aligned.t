# RUN: %fsdpc dump --stage=shard -n 3 -s shard.align=16B -s 'train.precision=f32' %s | sed -n 's/^group //p'
# RUN: %fsdpc dump --stage=shard -n 3 -s shard.align=16B -s 'train.precision=bf16' %s | sed -n 's/^group //p'
# RUN: %fsdpc dump --stage=shard -n 4 -s shard.align=16B -s 'train.precision=f32' %s | sed -n 's/^group //p'
# RUN: %fsdpc dump --stage=shard -n 4 -s shard.align=16B -s 'train.precision=bf16' %s | sed -n 's/^group //p'
# Each parameter starts at a multiple of 16 bytes of the compute dtype; the end is a multiple of the ranks.
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
0 unit 0 frozen master f32 compute f32 reduce f32 params 1@0, 2@16, 3@20, 4@24 unpadded 30 padded 30 shard 10 split (dp)
1 unit 1 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 6 padded 6 shard 2 split (dp)
0 unit 0 frozen master f32 compute bf16 reduce f32 params 1@0, 2@16, 3@24, 4@32 unpadded 39 padded 39 shard 13 split (dp)
1 unit 1 trainable master f32 compute bf16 reduce f32 params 0@0 unpadded 6 padded 6 shard 2 split (dp)
0 unit 0 frozen master f32 compute f32 reduce f32 params 1@0, 2@16, 3@20, 4@24 unpadded 32 padded 32 shard 8 split (dp)
1 unit 1 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 8 padded 8 shard 2 split (dp)
0 unit 0 frozen master f32 compute bf16 reduce f32 params 1@0, 2@16, 3@24, 4@32 unpadded 40 padded 40 shard 10 split (dp)
1 unit 1 trainable master f32 compute bf16 reduce f32 params 0@0 unpadded 8 padded 8 shard 2 split (dp)
