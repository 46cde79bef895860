# RUN: %fsdpc fit --memory 300kB --outside 20kB --device cpu net.fsd
# A model that does not fit gets settings that together make it fit, and exit code 0.
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
net.fsd: 2 ranks, 293.0 KiB on cpu, of which 19.5 KiB are not for the plan
does not fit: peak 757.5 KiB, 484.1 KiB too much
most samples a rank  none fits
longest data.length  none fits
fewest ranks         none fits

one setting changed
  shard.reshard=false                                       805.5 KiB, 532.1 KiB too much
  shard.strategy=grads                                      773.5 KiB, 500.1 KiB too much
  shard.strategy=states                                     773.5 KiB, 500.1 KiB too much
  shard.strategy=none                                       917.5 KiB, 644.1 KiB too much
  train.accumulate=2                                        579.2 KiB, 305.8 KiB too much
  train.accumulate=4                                        458.2 KiB, 184.8 KiB too much
  train.accumulate=8                                        425.8 KiB, 152.3 KiB too much
  train.loss_chunks=4                                       710.0 KiB, 436.6 KiB too much
  train.loss_chunks=16                                      686.0 KiB, 412.6 KiB too much
  shard.recompute=(Layer, keep = [linear, attention])       629.5 KiB, 356.1 KiB too much
  shard.recompute=(Layer, keep = attention)                 501.5 KiB, 228.1 KiB too much
  shard.recompute=Layer                                     501.5 KiB, 228.1 KiB too much
  shard.offload=(states = cpu)                              629.5 KiB, 356.1 KiB too much, 128.0 KiB in host memory
  shard.offload=(states = cpu, grads = cpu)                 629.5 KiB, 356.1 KiB too much, 192.0 KiB in host memory
  shard.offload=(states = cpu, params = cpu, grads = cpu)   565.5 KiB, 292.1 KiB too much, 256.0 KiB in host memory

fits with: peak 224.0 KiB, 49.4 KiB left, 192.0 KiB in host memory: -s train.accumulate=8 -s shard.recompute=Layer -s 'shard.offload=(states = cpu, grads = cpu)'

largest tensors at the peak
   128.0 KiB      1 x activations          net.fsd:18         cross_entropy_both
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc
   128.0 KiB      4 x activations          net.fsd:4          layer.*.fc:h
    64.0 KiB      4 x activations          net.fsd:4          layer.*
    64.0 KiB      1 x gathered parameters  net.fsd:16         (root)
    32.0 KiB      1 x optimizer                               m
    32.0 KiB      4 x optimizer                               m.layer.*
    32.0 KiB      1 x optimizer                               v
