# RUN: for n in 1 2 4; do %fsdpc dump --stage=shard -n $n %s | sed -n 's/^param . \("[^"]*"\).*\(axis .*\)/\1 \2/p; s/^group . //p'; done
# RUN: %fsdpc dump --format=json --rank 1 -n 2 %s | %python -c 'import json, sys; [print(g["axes"], g["pieces"]) for g in json.load(sys.stdin)["layout"][""]["groups"]]'
# Along axis 1 each row of a parameter is cut into a chunk for each rank, and what a rank has of all rows is one run of its
# shard: rank 1 of 2 has elements 2, 3, 6, 7, 10, 11 of a[3, 4], as in PyTorch's FSDP2 with Shard(1).
==== net.fsd
module Net {
  a : param[3, 4] = zeros
  b : param[2, 4, 3] = zeros @frozen
  c : param[3, 2] = zeros
  forward(ids: [B, S]) = linear(gather(a, ids), a) + sum(gather(c, ids), axis = -1)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { layout = param; "a" = split(dp, axis = 1); "b" = split(dp, axis = -2) }
==== out
"a" axis 1
"b" axis 1
unit 0 trainable master f32 compute f32 reduce f32 params 0@0/12, 2@12/6 unpadded 18 padded 18 shard 18
unit 0 frozen master f32 compute f32 reduce f32 params 1@0/24 unpadded 24 padded 24 shard 24
"a" axis 1
"b" axis 1
unit 0 trainable master f32 compute f32 reduce f32 params 0@0/2, 2@6/4 unpadded 20 padded 20 shard 10 split (dp)
unit 0 frozen master f32 compute f32 reduce f32 params 1@0/6 unpadded 24 padded 24 shard 12 split (dp)
"a" axis 1
"b" axis 1
unit 0 trainable master f32 compute f32 reduce f32 params 0@0/1, 2@3/2 unpadded 20 padded 20 shard 5 split (dp)
unit 0 frozen master f32 compute f32 reduce f32 params 1@0/3 unpadded 24 padded 24 shard 6 split (dp)
[1, 0] [[0, 2, 2, 0], [0, 6, 2, 2], [0, 10, 2, 4], [1, 4, 2, 6]]
[1] [[0, 6, 6, 0], [0, 18, 6, 6]]
