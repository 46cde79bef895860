# RUN: %fsdpc fit --memory 1MB --outside 2kB --device cpu --format=json net.fsd -s 'shard.offload=(states = cpu)' >%t/j && sed '/settings/,/together/d' %t/j
# The answers for tools.
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
{
 "model": "net.fsd",
 "ranks": 2,
 "device": "cpu",
 "memory_bytes": 1000000,
 "outside_bytes": 2000,
 "fits": true,
 "peak_bytes": 644608,
 "room_bytes": 353392,
 "host_bytes": 131072,
 "most": {
  "samples_a_rank": 13,
  "length": 27
 },
 "least": {
  "ranks": 1
 },
 "mesh": null,
 "tensors": [
  {
   "name": "cross_entropy_both",
   "category": "activations",
   "count": 1,
   "bytes": 131072,
   "file": "net.fsd",
   "line": 18
  },
  {
   "name": "layer.*.fc",
   "category": "activations",
   "count": 4,
   "bytes": 131072,
   "file": "net.fsd",
   "line": 4
  },
  {
   "name": "layer.*.fc:h",
   "category": "activations",
   "count": 4,
   "bytes": 131072,
   "file": "net.fsd",
   "line": 4
  },
  {
   "name": "layer.*",
   "category": "activations",
   "count": 4,
   "bytes": 65536,
   "file": "net.fsd",
   "line": 4
  },
  {
   "name": "(root)",
   "category": "gathered_parameters",
   "count": 1,
   "bytes": 65536,
   "file": "net.fsd",
   "line": 16
  },
  {
   "name": "param",
   "category": "parameters",
   "count": 1,
   "bytes": 32768,
   "file": null,
   "line": null
  },
  {
   "name": "param.layer.*",
   "category": "parameters",
   "count": 4,
   "bytes": 32768,
   "file": null,
   "line": null
  },
  {
   "name": "emb",
   "category": "activations",
   "count": 1,
   "bytes": 16384,
   "file": "net.fsd",
   "line": 11
  },
  {
   "name": "head'",
   "category": "activations",
   "count": 1,
   "bytes": 16384,
   "file": "net.fsd",
   "line": 13
  },
  {
   "name": "layer.*",
   "category": "gathered_parameters",
   "count": 1,
   "bytes": 16384,
   "file": "net.fsd",
   "line": 8
  },
  {
   "name": "staging",
   "category": "batch",
   "count": 1,
   "bytes": 2048,
   "file": null,
   "line": null
  },
  {
   "name": "inputs",
   "category": "batch",
   "count": 1,
   "bytes": 512,
   "file": "net.fsd",
   "line": 17
  },
  {
   "name": "eval.loss",
   "category": "other",
   "count": 1,
   "bytes": 192,
   "file": null,
   "line": null
  },
  {
   "name": "loss",
   "category": "other",
   "count": 1,
   "bytes": 192,
   "file": null,
   "line": null
  },
  {
   "name": "step",
   "category": "other",
   "count": 1,
   "bytes": 128,
   "file": null,
   "line": null
  },
  {
   "name": "scale",
   "category": "other",
   "count": 1,
   "bytes": 64,
   "file": null,
   "line": null
  }
 ]
}
