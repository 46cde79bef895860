# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -o p2 -n 2 && %fsdpc compile -q net.fsd -o p3 -n 3 -s shard.unit=none 2> /dev/null
# RUN: %fsdp-run --quiet --threads 1 --steps 0 --save a p2 && %fsdp-run --quiet --threads 1 --steps 0 --save b p3 && cmp a b
# RUN: %fsdp-run --quiet --threads 1 --save c p2 && %fsdp-run --quiet --threads 1 --steps 0 --load c --save d p3 && cmp c d && ! cmp -s a c && echo same
# Start weights do not depend on ranks or units, and saved weights come back bit for bit.
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
same
