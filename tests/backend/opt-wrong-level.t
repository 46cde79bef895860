# RUN: %fsdpc dump --stage=model tiny.fsd | %fsdpc opt --pass=shard
# A pass reads graphs of one level.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== err
error[E0506]: pass `shard` reads a graph of level shard; this one is of level model

==== exit 1
