# RUN: %fsdpc compile -q tiny.fsd -o %t/a.bin && %fsdpc compile -q tiny.fsd -s train.steps=6 -o %t/b.bin
# RUN: for x in a b; do %fsdpc dump --raw %t/$x.bin | sed -n "1s/.*fingerprint//p" >%t/$x; done
# RUN: test -s %t/a && ! cmp -s %t/a %t/b
# Other options are another plan.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
