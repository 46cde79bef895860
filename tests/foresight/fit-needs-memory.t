# RUN: %fsdpc fit net.fsd
# The memory of the device must be given.
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
error[E0504]: `fsdpc fit` needs --memory SIZE, the memory of a device, or --machine FILE
  = help: for example --memory 80GiB

==== exit 1
