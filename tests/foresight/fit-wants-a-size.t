# RUN: %fsdpc fit net.fsd --memory 80
# A size has a unit.
==== net.fsd
module Layer {
  fc : Linear(32, 64)
  out : Linear(64, 32)
  forward(x) = x + out(gelu(fc(x)))
}
module Net {
  emb : Embedding(256, 32)
  layer : Layer[4]
  head : Linear(32, 256)
  forward(ids) {
    x = emb(ids)
    for l in layer { x = l(x) }
    return head(x)
  }
}
model = Net
data  { train = text("a.txt"); length = 16 }
train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 5; optimizer = adamw(lr = 0.1) }
shard { mesh = (dp = 2); unit = Layer }
==== err
error[E0503]: `--memory` takes a size such as 500MB, 5GB or 2GiB, not `80`

==== exit 1
