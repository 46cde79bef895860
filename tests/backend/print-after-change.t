# RUN: %fsdpc compile -q tiny.fsd -o %t/x.bin --print-after-change 2>&1 | grep -a "^# after"
# Passes that change nothing are left out.
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
# after grad
# after fuse_loss
# after wrap
# after shard
# after optimizer
# after comm
# after schedule
# after memory
