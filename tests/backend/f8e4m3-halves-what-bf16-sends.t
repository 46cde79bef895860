# RUN: for g in none f8e4m3; do %fsdpc dump -n 2 -s shard.gather=$g net.fsd 2>&- | grep -oE "(unshard|reduce_scatter) [0-9.]+ KiB"; done
# gather = f8e4m3 halves the bytes that gathers send in bf16 and leaves the reduction unchanged.
==== net.fsd
module Net {
  fc : Linear(64, 64)[3]
  forward(x) {
    for f in fc { x = relu(f(x)) }
    return x
  }
}
model = Net
data  { train = synthetic(x = [64], y = 64); val = none }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5); precision = bf16; eval_every = none }
shard { unit = Linear }
==== out
unshard 20.0 KiB
reduce_scatter 24.0 KiB
unshard 10.0 KiB
reduce_scatter 24.0 KiB
