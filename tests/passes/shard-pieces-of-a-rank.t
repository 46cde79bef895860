# RUN: for r in 0 1 3; do %fsdpc dump --format=json -n 4 -s shard.align=none --rank $r %s | %python -c 'import json, sys; print(json.load(sys.stdin)["layout"]["m"]["pieces"])'; done
# RUN: %fsdpc dump --format=json -n 24 -s shard.align=none --rank 23 %s | %python -c 'import json, sys; l = json.load(sys.stdin)["layout"]["m"]; print(l["pieces"], l["shard_padding"][-1])'
# What a rank holds of a flat parameter: parameter, first element, count, place in the shard; a rank
# past the end holds padding alone.
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
[[0, 0, 7, 0]]
[[0, 7, 7, 0]]
[[3, 1, 5, 0]]
[] 2
