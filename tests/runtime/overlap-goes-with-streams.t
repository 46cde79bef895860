# RUN: ! %fsdp-run --overlap=always p
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -o p -n 1 && ! %fsdp-run -q --overlap on p
# RUN: %fsdpc compile -q net.fsd -o p -n 2 && FSDP_CHECK=memory %fsdp-run -q --overlap on p
# What --overlap cannot do is said, not left undone.
# NEEDS: build:device_cpu.so
==== net.fsd
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  forward(x) = x + b(relu(a(x)))
}
module Net {
  emb : Embedding(128, 12)
  h : Block[3]
  out : Linear(12, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 12; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== err
error: unknown --overlap `always`: it is auto, on or off
help: fsdp-run --help lists the options
error: --overlap on: the plan has no gathers, reductions or copies that could run beside the computation
help: it is for several ranks, and for what is offloaded
error: --overlap on and FSDP_CHECK=memory: one at a time
==== exit 1
