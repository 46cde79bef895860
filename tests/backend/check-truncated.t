# RUN: %fsdpc compile -q tiny.fsd -o %t/a.bin && head -c 3000 %t/a.bin >b.bin
# RUN: %fsdpc check b.bin 2>&1 | sed "s/have [0-9]* bytes/have N bytes/"; exit ${PIPESTATUS[0]}
# A plan that ends early is damaged.
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
error[E0510]: b.bin: the plan should have N bytes, but the file has 3000

==== exit 3
