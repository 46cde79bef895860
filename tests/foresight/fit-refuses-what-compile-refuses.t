# RUN: %fsdpc fit --memory 1MB net.fsd -n 3
# What compile refuses is an error of fit too, with its exit code.
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
error[E0319]: batch = 16 is not divisible by 3 ranks x 1 micro-batch
  --> net.fsd:18:55
   |
18 | train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 5; optimizer = adamw(lr = 0.1) }
   |                                                       ^^^^^
   |
   = help: valid sizes: 15, 18, 21

==== exit 1
