# RUN: %fsdpc dump --stage=shard -n 1 -s shard.layout=param %s | sed -n 's/^group 0 //p'
# RUN: %fsdpc dump --stage=shard -n 3 -s shard.layout=param %s | sed -n 's/^group 0 //p'
# RUN: %fsdpc dump --stage=shard -n 4 -s shard.layout=param %s | sed -n 's/^group 0 //p'
# RUN: %fsdpc dump --format=json --rank 2 -n 4 -s shard.layout=param %s | %python -c 'import json, sys; print(json.load(sys.stdin)["layout"]["m"]["pieces"])'
# By rows each parameter is cut by itself, into chunks of as many rows; modules come after the modules in them.
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
unit 0 frozen master f32 compute f32 reduce f32 params 3@0/2, 4@2/6, 1@8/15, 2@23/3 unpadded 26 padded 26 shard 26
unit 0 frozen master f32 compute f32 reduce f32 params 3@0/2, 4@2/2, 1@4/6, 2@10/1 unpadded 33 padded 33 shard 11 split (dp)
unit 0 frozen master f32 compute f32 reduce f32 params 3@0/2, 4@2/2, 1@4/6, 2@10/1 unpadded 44 padded 44 shard 11 split (dp)
[[1, 4, 2, 2], [2, 12, 3, 4], [3, 2, 1, 10]]
