# RUN: %fsdpc compile -q net.fsd -o p && %fsdp-run -q --save w p && %fsdp-run --generate 3 --load w p
# --generate refuses a plan with loss_chunks and says how to compile one that works.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb  : Embedding(37, 8)
  ln   : LayerNorm(8)
  head : Linear(8, 37)
  forward(x) = head(ln(emb(x)))
}
model = Net
data  { train = synthetic_tokens(vocab = 37); length = 6; val = synthetic_tokens(vocab = 37) }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; optimizer = adamw(lr = 0.01)
        eval_every = 2; eval_steps = 2; loss_chunks = 5 }
shard { mesh = (dp = 1) }
==== err
error: --generate: the plan computes logits in chunks: compile it with -s train.loss_chunks=1 to generate
==== exit 1
