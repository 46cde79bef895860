# RUN: %fsdpc fit --machine m.machine net.fsd
# A machine file that is not there is exit code 2.
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
error: cannot read m.machine: No such file or directory
==== exit 2
