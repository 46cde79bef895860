# RUN: %fsdpc compile -q net.fsd -o p && head -c 3000 p >q && %fsdpc fit q --memory 80GiB
# A damaged plan is exit code 3.
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
error[E0510]: q: the plan should have 127456 bytes, but the file has 3000

==== exit 3
