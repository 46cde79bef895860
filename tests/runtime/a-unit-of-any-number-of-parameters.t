# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -o p -n 2 2> /dev/null && %fsdp-run --quiet --threads 1 --save a p && %fsdpc compile -q net.fsd -o q -n 2 -s shard.unit=Linear && %fsdp-run --quiet --threads 1 --save b q && cmp a b && echo same
# A unit of more than 256 parameters is trained, to the bits of small units.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(128, 4)
  h : Linear(4, 4)[300]
  out : Linear(4, 128)
  forward(x) {
    y = emb(x)
    for layer in h { y = y + layer(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = root }
==== out
same
