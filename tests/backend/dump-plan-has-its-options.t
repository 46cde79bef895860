# RUN: %fsdpc compile -q tiny.fsd -o b.bin
# RUN: %fsdpc dump -n 2 b.bin
# A plan cannot be dumped for other options.
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
error[E0507]: b.bin is a plan: -n, --mesh, --preset, -s and the like are fixed in it
  = help: give the model file, or compile it with them

==== exit 1
