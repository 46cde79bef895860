# RUN: %fsdpc compile -q tiny.fsd -o b.bin && printf X | dd of=b.bin bs=1 seek=2500 conv=notrunc status=none
# RUN: %fsdpc check b.bin
# A byte that changed is found.
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
error[E0510]: b.bin: checksum mismatch: the file is damaged

==== exit 3
