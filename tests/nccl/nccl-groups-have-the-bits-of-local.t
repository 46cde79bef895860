# RUN: seq 400 >t.txt; %python %root/tests/nccl/faked.py same %fsdpc %build %t net.fsd 4 -s 'shard.mesh=(rep = 2, dp = 2)' -s train.accumulate=2
# On replicas of shards, groups of ranks over the fake NCCL give the bits of transport local.
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
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 1 }
shard { unit = Block }
==== out
nccl: the same bits
another order: the same bits
no graphs: the same bits
no windows: the same bits
no registration: the same bits
all is late: the same bits
from saved weights: the same bits
