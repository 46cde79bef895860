# RUN: seq 400 >t.txt; %fsdpc compile -q net.fsd -o p -n 4; r="%build/emulated/run/fsdp-run -n 4 --device cuda --threads 1"; FSDP_EMULATE_GPUS=4 $r p 2>&1 | grep "device cuda\|launcher\|NCCL"; echo; FSDP_EMULATE_GPUS=3 $r p 2>&1 | grep "^device cuda"; FSDP_FAKE_WINDOWS=0 FSDP_EMULATE_GPUS=4 $r p 2>&1 | grep NCCL
# With a GPU for each rank fsdp-run starts processes, which say how they go; with fewer, threads.
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
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 4; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 1 }
shard { unit = Block }
==== out
device cuda, transport nccl, 4 ranks of 1 thread
launcher fsdp-run: rank 0 of 4, local rank 0 of 4
NCCL 2.28.9: 3 communicators, arena offered as a symmetric window

device cuda, transport local, 4 ranks of 1 thread
NCCL 2.28.9: 3 communicators, arena offered as a registered buffer
