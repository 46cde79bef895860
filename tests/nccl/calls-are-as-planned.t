# RUN: seq 400 >t.txt; for n in 2 4; do mkdir %t/$n; %python %root/tests/nccl/faked.py planned %fsdpc %build %t/$n net.fsd $n; done
# What ranks ask of NCCL and CUDA is what the plan says; one call less, or two swapped, is noticed.
# NEEDS: build:emulated/run/transport_nccl.so
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
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 1; eval_steps = 1 }
shard { unit = Block }
==== out
program train: 2 calls as planned, 1 graphs
program eval: 2 calls as planned, 1 graphs
collectives taken out: 28 of 28 noticed
other calls taken out: 83 of 83 noticed
neighbours swapped: 26 of 26 noticed
program train: 2 calls as planned, 1 graphs
program eval: 2 calls as planned, 1 graphs
collectives taken out: 28 of 28 noticed
other calls taken out: 83 of 83 noticed
neighbours swapped: 26 of 26 noticed
