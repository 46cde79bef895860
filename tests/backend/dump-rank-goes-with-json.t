# RUN: %fsdpc dump --rank 0 tiny.fsd
# Pieces of a rank are in the JSON form only.
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
error[E0507]: --rank is for --format=json of a plan

==== exit 1
