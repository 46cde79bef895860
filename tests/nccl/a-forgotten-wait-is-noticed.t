# RUN: seq 400 >t.txt; %python %root/tests/nccl/faked.py waits %fsdpc %build %t net.fsd 2
# When the device forgets that a stream waits for another, the reader of its calls notices.
# NEEDS: build:emulated/run/transport_nccl.so
# TIME: 120
==== net.fsd
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  forward(x) = x + b(relu(a(x)))
}
module Net {
  emb : Embedding(128, 12)
  h : Block[2]
  out : Linear(12, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 1; eval_steps = 1 }
shard { unit = Block }
==== out
12 of 12 noticed
