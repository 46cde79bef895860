# RUN: %fsdpc compile -q tiny.fsd -n 2 -o %t/x.bin --print-after=wrap 2>&1 | grep -a "^#\|^unit"
# The graph after a pass is printed on standard error.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
# after wrap
unit 0 "" M modules 0 groups below 2048 owned 2048 root
