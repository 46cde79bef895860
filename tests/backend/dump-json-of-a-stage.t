# RUN: %fsdpc dump --stage=shard --format=json tiny.fsd
# Graphs have no JSON form.
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
error[E0507]: stage `shard` has no JSON form
  = help: leave out --stage, or --format=json

==== exit 1
