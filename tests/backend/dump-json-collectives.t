# RUN: %fsdpc dump --format=json -n 2 -s train.accumulate=2 tiny.fsd | %python -c 'import json, sys; [print(*e) for e in json.load(sys.stdin)["collectives"]]'
# The collectives of a step, micro-batch after micro-batch.
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
forward 0 all_gather  2048 f32 [0, 1]
backward 0 reduce_scatter  2048 f32 [0, 1]
forward 1 all_gather  2048 f32 [0, 1]
backward 1 reduce_scatter  2048 f32 [0, 1]
update all_reduce None 48 i64 [0, 1] metric
