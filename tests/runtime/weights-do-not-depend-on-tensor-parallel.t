# RUN: seq 300 > t.txt; for m in dp=1 tp=2 dp=2,tp=2 tp=2,dp=3; do %fsdpc compile -q net.fsd --mesh $m -o p 2> /dev/null && %fsdp-run -q --threads 1 --steps 0 --save $m p || exit; cmp dp=1 $m && echo $m; done
# Start weights are counted by the elements of whole tensors: ranks along tp, which have parts of them, start from the same.
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
dp=1
tp=2
dp=2,tp=2
tp=2,dp=3
