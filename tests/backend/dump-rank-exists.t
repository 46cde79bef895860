# RUN: %fsdpc dump --format=json --rank 2 -n 2 tiny.fsd
# Ranks count from 0.
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
error[E0503]: there is no rank 2: the plan has ranks 0 to 1

==== exit 1
