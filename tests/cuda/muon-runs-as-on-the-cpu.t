# RUN: seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 2 same
# Muon loses on two ranks of the emulated GPU what it loses on the cpu, in every order.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
# TIME: 240
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
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 4; optimizer = muon(lr = 0.02, adamw_lr = 1e-3); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== out
losses as on the cpu
the same bits in every order
