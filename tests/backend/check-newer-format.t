# RUN: %fsdpc compile -q tiny.fsd -o b.bin && printf "\011" | dd of=b.bin bs=1 seek=12 conv=notrunc status=none
# RUN: %fsdpc check b.bin
# A plan that needs a newer reader is rejected with a message that says so.
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
error[E0510]: b.bin: the plan needs a reader of format 9 or newer; this one knows 2

==== exit 3
