# RUN: %fsdpc fit --memory 1MB --device cpu net.fsd
# The answers for people: how much fits, one setting changed, what holds memory.
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
most samples a rank  11: peak 939.2 KiB, 37.3 KiB left: -s train.batch=22
longest data.length  23: peak 969.6 KiB, 6.9 KiB left: -s data.length=23
fewest ranks         1: peak 917.5 KiB, 59.1 KiB left: --mesh dp=1 -s train.batch=8

one setting changed
  shard.reshard=false                                       805.5 KiB, 171.1 KiB left
  shard.strategy=grads                                      773.5 KiB, 203.1 KiB left
  shard.strategy=states                                     773.5 KiB, 203.1 KiB left
  shard.strategy=none                                       917.5 KiB, 59.1 KiB left
  train.accumulate=2                                        579.2 KiB, 397.3 KiB left
  train.accumulate=4                                        458.2 KiB, 518.3 KiB left
  train.accumulate=8                                        425.8 KiB, 550.8 KiB left
  train.loss_chunks=4                                       710.0 KiB, 266.6 KiB left
  train.loss_chunks=16                                      686.0 KiB, 290.6 KiB left
  shard.recompute=(Layer, keep = [linear, attention])       629.5 KiB, 347.1 KiB left
  shard.recompute=(Layer, keep = attention)                 501.5 KiB, 475.1 KiB left
  shard.recompute=Layer                                     501.5 KiB, 475.1 KiB left
  shard.offload=(states = cpu)                              629.5 KiB, 347.1 KiB left, 128.0 KiB in host memory
  shard.offload=(states = cpu, grads = cpu)                 629.5 KiB, 347.1 KiB left, 192.0 KiB in host memory
  shard.offload=(states = cpu, params = cpu, grads = cpu)   565.5 KiB, 411.1 KiB left, 256.0 KiB in host memory

largest tensors at the peak
   128.0 KiB      1 x activations          net.fsd:18         cross_entropy_both
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc:h
    64.0 KiB      4 x activations          net.fsd:4          layer.*
    64.0 KiB      1 x gathered parameters  net.fsd:16         (root)
    32.0 KiB      1 x optimizer                               m
    32.0 KiB      4 x optimizer                               m.layer.*
    32.0 KiB      1 x optimizer                               v
