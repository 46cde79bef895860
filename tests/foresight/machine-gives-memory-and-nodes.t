# RUN: %fsdpc fit --machine small.machine --device cpu net.fsd | grep -E '^net|^smallest'; %fsdpc fit --machine small.machine --memory 1MB --device cpu net.fsd | sed -n 1,2p
# Memory and ranks of a node come from the machine file, except what options say.
==== small.machine
{"format": 1, "device": {"memory_bytes": {"value": 64000, "from": "assumed"}, "outside_bytes": {"value": 1000, "from": "assumed"}},
 "links": [{"ranks": 2, "start_s": {"value": 0, "from": "assumed"}}]}
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
==== out
net.fsd: 2 ranks, 62.5 KiB on cpu, of which 1000 B are not for the plan
smallest mesh: none fits
net.fsd: 2 ranks, 976.6 KiB on cpu, of which 1000 B are not for the plan
fits: peak 757.5 KiB, 218.1 KiB left
