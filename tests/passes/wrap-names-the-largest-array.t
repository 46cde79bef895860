# RUN: %fsdpc dump --stage=shard -n 2 two.fsd > /dev/null
# The class that the warning of one unit names is that of the largest array, wherever it stands.
==== two.fsd
module A { fc : Linear(8, 8); forward(x) = relu(fc(x)) }
module B { fc : Linear(8, 8); forward(x) = relu(fc(x)) }
module M {
  e : Embedding(9, 8)
  a : A[3]
  b : B[2]
  h : Linear(8, 9)
  forward(ids) {
    x = e(ids)
    for l in a { x = l(x) }
    for l in b { x = l(x) }
    return h(x)
  }
}
model = M
data { train = text("t"); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 1; optimizer = sgd(lr = 0.1) }
==== err
warning[W0401]: one unit of 464 parameters is gathered at once; write unit = A
  = help: that is 1.8 KiB on every rank, as much as without sharding

