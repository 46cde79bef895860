# RUN: %fsdpc compile -q tiny.fsd -n 2 -o %t/plan.bin
# RUN: %fsdpc check %t/plan.bin
# With -q nothing is printed; check is silent on a good plan.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
