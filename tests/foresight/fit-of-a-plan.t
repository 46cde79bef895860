# RUN: %fsdpc compile -q net.fsd -o p && %fsdpc fit --device cpu --memory 1MB p && %fsdpc fit --device cpu --memory 1MB --format=json p | sed '/tensors/,$d' && %fsdpc fit --device cpu --memory 300kB p
# A plan answers for itself: whether it fits, what room is left, its largest tensors.
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
net.fsd: 2 ranks, 976.6 KiB on cpu
fits: peak 757.5 KiB, 219.1 KiB left

largest tensors at the peak
   128.0 KiB      1 x activations          net.fsd:18         cross_entropy_both
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc:h
    64.0 KiB      4 x activations          net.fsd:4          layer.*
    64.0 KiB      1 x gathered parameters  net.fsd:16         (root)
    32.0 KiB      1 x optimizer                               m
    32.0 KiB      4 x optimizer                               m.layer.*
    32.0 KiB      1 x optimizer                               v
{
 "model": "net.fsd",
 "ranks": 2,
 "device": "cpu",
 "memory_bytes": 1000000,
 "outside_bytes": 0,
 "fits": true,
 "peak_bytes": 775680,
 "room_bytes": 224320,
 "host_bytes": 0,
 "most": {
  "samples_a_rank": null,
  "length": null
 },
 "least": {
  "ranks": null
 },
 "settings": [],
 "together": null,
 "mesh": null,
net.fsd: 2 ranks, 293.0 KiB on cpu
does not fit: peak 757.5 KiB, 464.5 KiB too much

largest tensors at the peak
   128.0 KiB      1 x activations          net.fsd:18         cross_entropy_both
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc:h
    64.0 KiB      4 x activations          net.fsd:4          layer.*
    64.0 KiB      1 x gathered parameters  net.fsd:16         (root)
    32.0 KiB      1 x optimizer                               m
    32.0 KiB      4 x optimizer                               m.layer.*
    32.0 KiB      1 x optimizer                               v
==== exit 1
