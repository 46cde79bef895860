# RUN: %fsdpc dump --format=json --rank 2 -n 3 -s train.batch=6 tiny.fsd | %python -c 'import json, sys; d = json.load(sys.stdin); u = d["layout"][""]; print(d["parameters"], d["units"], [u[k] for k in ("offsets", "unpadded", "padded", "shard", "shard_padding", "pieces")])'
# Layout of a unit, and what one rank holds.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
2048 [['', 'M', 2048, 2048]] [[0, 1024], 2049, 2049, 683, [0, 0, 0], [[1, 342, 682, 0]]]
