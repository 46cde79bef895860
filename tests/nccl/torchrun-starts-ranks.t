# RUN: seq 400 >t.txt; %fsdpc compile -q net.fsd -o p -n 4; r="%build/emulated/run/fsdp-run --device cuda --threads 1 --log"; $r a -n 4 --transport local --quiet p; FSDP_EMULATE_GPUS=4 %python -m torch.distributed.run --standalone --nproc-per-node 4 --no-python -- $r b p 2>&1 | grep -o "device cuda.*\|launcher.*"; l() { grep '"step"\|"eval"' $1 | grep -o '"loss": *[0-9.]*'; }; [ "$(l a)" = "$(l b)" ] && l b | wc -l
# PyTorch's torchrun starts the ranks, which meet, take nccl and compute the bits of local.
# NEEDS: build:emulated/run/transport_nccl.so python:torch
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
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 4; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 1 }
shard { unit = Block }
==== out
device cuda, transport nccl, 4 ranks of 1 thread
launcher torchrun: rank 0 of 4, local rank 0 of 4
6
