# RUN: seq 300 >t.txt; for n in 1 2 4; do %fsdpc compile -q net.fsd -o p -n $n 2>&- && %fsdp-run -q --threads 1 --log log --save w$n p && grep -a '"event":"eval"' log | grep -o '"loss":[0-9.]*' | cut -c 1-12 | tail -1 | tr '\n' ' '; %fsdp-run -q --load w1 --generate "29 " --tokens 12 --temperature 0 p | tr '\n' ' '; echo; done | sed 's,  *$,,' | uniq -c
# Evaluation and generation are programs of their own, which gather the shards that they read: nothing has to be called from
# the root module, and any number of ranks says the same.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(128, 16); fc : Linear(16, 16)[3]; out : Linear(16, 128)
  forward(x) {
    y = emb(x)
    for layer in fc { y = y + relu(layer(y)) }
    return out(y)
  }
}
model = Net
data  { train = text("t.txt"); val = text("t.txt"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 40; optimizer = adamw(lr = 0.01); eval_every = 40; eval_steps = 2 }
shard { unit = Linear }
==== out
      3 "loss":2.225 29 1 1 1 1 1 1
