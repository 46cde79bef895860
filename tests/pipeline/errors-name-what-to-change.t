# RUN: try() { %fsdpc compile -q %s -o %t/p "$@" 2>&1 | grep '^error\|help:'; }; try --mesh pp=4; try --mesh dp=2,pp=2; try --mesh pp=2 -s shard.stages=3; try --mesh pp=2 -s shard.stages=4; try --mesh pp=2 -s shard.pipeline=interleaved -s train.accumulate=3; try --mesh pp=2,dp=4 -s shard.reshard=2; try --mesh pp=2,dp=2 -s 'shard.offload=(grads = cpu)'
# RUN: sed 's/tie: no/tie h[2].weight = h[0].weight/' %s > tied.fsd; %fsdpc compile -q tied.fsd -o %t/p --mesh pp=2 2>&1 | grep '^error\|help:'
# What a pipeline cannot be, or cannot be yet, is an error with the numbers and the way out.
==== net.fsd
module Net {
  h : Linear(8, 8)[3]
  # tie: no
  forward(x: [B, D]) { for f in h { x = relu(f(x)) }; return x }
}
model = Net
data { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 24; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== out
