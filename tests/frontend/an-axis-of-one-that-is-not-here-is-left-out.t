# RUN: %fsdpc dump --stage=model m.fsd | grep ^mesh
# An axis that this version lacks may be written where it splits nothing; the mesh does not have it.
==== m.fsd
module M {
  e : Embedding(4, 2)
  forward(x) = linear(e(x), e.weight)
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
shard { mesh = (ep = 1, dp = 2) }
==== out
mesh dp = 2
