# RUN: %fsdpc fit --memory 1MB net.fsd -s 'shard."layer.*"=reshard(false)' -W error -s train.batch=2 | sed -n '/changed/,/^$/p'
# With -W error a setting that gets a warning does not compile.
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
one setting changed
  shard.reshard=false                                                error[W0302]: reshard "layer.*" has no effect: shard.reshard says the same
  shard.strategy=grads                                               error[W0302]: strategy = grads: reshard has no effect
  shard.strategy=states                                              error[W0302]: strategy = states: reshard has no effect
  shard.strategy=none                                                error[W0302]: strategy = none: reshard has no effect
  shard.accumulate=local                                             error[W0302]: train.accumulate = 1: accumulate has no effect
  shard.gather_again=false                                           error[W0302]: ranks do not share out the work on a sample: gather_again has no effect
  train.loss_chunks=4                                        32.4 MiB, 31.5 MiB too much
  train.loss_chunks=16                                       32.4 MiB, 31.5 MiB too much
  shard.recompute=(Layer, keep = [linear, attention])                error[W0302]: recompute: keep = attention has no effect: the model has no such op
  shard.recompute=(Layer, keep = attention)                          error[W0302]: recompute: keep = attention has no effect: the model has no such op
  shard.recompute=Layer                                      32.4 MiB, 31.4 MiB too much
  shard.offload=(states = cpu)                               32.2 MiB, 31.3 MiB too much, 128.0 KiB in host memory
  shard.offload=(states = cpu, grads = cpu)                  32.2 MiB, 31.3 MiB too much, 192.0 KiB in host memory
  shard.offload=(states = cpu, params = cpu, grads = cpu)    32.2 MiB, 31.2 MiB too much, 256.0 KiB in host memory

==== exit 1
