# RUN: seq 400 >t.txt; %python %root/tests/nccl/hosts.py %fsdpc %build %t net.fsd
# Between two hosts, with a good link or a poor one, bits are those of local; one cut off ends all.
# NEEDS: build:emulated/run/transport_nccl.so network:namespaces
# TIME: 90
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
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 4; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 1 }
shard { unit = Block }
==== out
two hosts: the same bits
killed: all ranks end, one is named
cut off: all ranks end, one is named
a poor link: the same bits, packets were lost
