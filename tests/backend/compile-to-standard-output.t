# RUN: %fsdpc compile -q tiny.fsd -o %t/a.bin
# RUN: %fsdpc compile -q tiny.fsd -o - | cmp - %t/a.bin
# `-o -` writes the same plan to standard output.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
