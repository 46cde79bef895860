# RUN: %python %root/tests/offload/bits.py %fsdpc %fsdp-run net.fsd
# Losses, weights and checkpoints with offload have the bits of a run without, whatever is moved, over strategies, layouts, micro-batches, precisions and optimizers, streams run in any order and freed memory full of NaN.
# TIME: 120
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(64, 12)
  h : Linear(12, 12, bias = true)[3]
  out : Linear(12, 64)
  forward(x) {
    y = emb(x)
    for layer in h { y = y + relu(layer(y)) }
    return out(y)
  }
}
model = Net
data { train = synthetic_tokens(vocab = 64); val = synthetic_tokens(vocab = 64, seed = 1); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; clip = 0.5; eval_every = 2; eval_steps = 1 }
shard { unit = Linear }
==== out
12 runs, each with 2 forms of offload: the same bits
