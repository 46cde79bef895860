# RUN: mkdir -p %t/else && cp tiny.fsd %t/else && %fsdpc compile -q -n 2 tiny.fsd -o %t/a.bin
# RUN: cd %t/else && %fsdpc compile -q tiny.fsd -n 2 -o b.bin
# RUN: cmp %t/a.bin %t/else/b.bin
# The same file and options give the same bytes in another folder.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
