# RUN: %fsdpc fit --memory 64kB --device cpu net.fsd
# Where nothing fits: the least peak, its tensors with source lines, the smallest mesh, and exit code 1.
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
net.fsd: 2 ranks, 62.5 KiB on cpu
does not fit: peak 757.5 KiB, 695.0 KiB too much
most samples a rank  none fits
longest data.length  none fits
fewest ranks         none fits

one setting changed
  shard.reshard=false                                       805.5 KiB, 743.0 KiB too much
  shard.strategy=grads                                      773.5 KiB, 711.0 KiB too much
  shard.strategy=states                                     773.5 KiB, 711.0 KiB too much
  shard.strategy=none                                       917.5 KiB, 855.0 KiB too much
  train.accumulate=2                                        579.2 KiB, 516.8 KiB too much
  train.accumulate=4                                        458.2 KiB, 395.8 KiB too much
  train.accumulate=8                                        425.8 KiB, 363.2 KiB too much
  train.loss_chunks=4                                       710.0 KiB, 647.5 KiB too much
  train.loss_chunks=16                                      686.0 KiB, 623.5 KiB too much
  shard.recompute=(Layer, keep = [linear, attention])       629.5 KiB, 567.0 KiB too much
  shard.recompute=(Layer, keep = attention)                 501.5 KiB, 439.0 KiB too much
  shard.recompute=Layer                                     501.5 KiB, 439.0 KiB too much
  shard.offload=(states = cpu)                              629.5 KiB, 567.0 KiB too much, 128.0 KiB in host memory
  shard.offload=(states = cpu, grads = cpu)                 629.5 KiB, 567.0 KiB too much, 192.0 KiB in host memory
  shard.offload=(states = cpu, params = cpu, grads = cpu)   565.5 KiB, 503.0 KiB too much, 256.0 KiB in host memory

least peak: peak 161.5 KiB, 99.0 KiB too much, 256.0 KiB in host memory: -s train.accumulate=8 -s shard.recompute=Layer -s 'shard.offload=(states = cpu, params = cpu, grads = cpu)'
smallest mesh: 8 ranks, peak 45.5 KiB, 17.0 KiB left, 64.0 KiB in host memory: --mesh dp=2,tp=4 -s shard.recompute=Layer -s 'shard.offload=(states = cpu, params = cpu, grads = cpu)' -s train.batch=2

largest tensors at the least peak
    64.0 KiB      2 x optimizer            net.fsd:16         fetch.*
    32.0 KiB      1 x gradients            net.fsd:16         fetch.*
    32.0 KiB      1 x parameters           net.fsd:16         (root)
    16.0 KiB      2 x optimizer            net.fsd:8          layer.*.fetch.*
     8.0 KiB      1 x gradients            net.fsd:8          layer.*.fetch.*
     8.0 KiB      1 x parameters           net.fsd:8          layer.*
       256 B      1 x batch                                   staging
       192 B      1 x loss and step                           eval.loss
==== exit 1
