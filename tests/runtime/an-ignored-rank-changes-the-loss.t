# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -o p -n 3 && %fsdp-run --quiet --threads 1 --log a --steps 2 p
# RUN: FSDP_TEST_IGNORE_RANK=1 %fsdp-run --quiet --threads 1 --log b --steps 2 p
# RUN: for f in a b; do grep -c '"loss"' $f; grep -o '"loss":[^,]*' $f | tail -1 > $f.loss; done; cmp -s a.loss b.loss || echo another loss
# A reduction that leaves a rank out shows in the loss.
# NEEDS: build:device_cpu.so
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
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 6; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== out
3
3
another loss
