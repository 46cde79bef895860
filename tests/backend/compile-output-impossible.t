# RUN: %fsdpc compile -q tiny.fsd -o no/such/folder/plan.bin
# A plan that cannot be written is an error.
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
error: cannot write no/such/folder/plan.bin: No such file or directory
==== exit 2
