# RUN: try() { %fsdpc compile -q %s -o %t/p "$@" 2>&1 | grep '^error\|help:'; }; try --mesh pp=4; try --mesh dp=2,pp=2; try --mesh pp=2 -s shard.stages=3; try --mesh pp=2 -s shard.stages=4; try --mesh pp=2 -s shard.pipeline=interleaved -s train.accumulate=3; true
# What a pipeline cannot be, or cannot be yet, is an error with the numbers and the way out.
==== net.fsd
module Net {
  h : Linear(8, 8)[3]
  forward(x: [B, D]) { for f in h { x = relu(f(x)) }; return x }
}
model = Net
data { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 24; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== out
error[E0409]: stages = 4: the model has 3 units
  = help: a stage needs at least one unit: use fewer stages, or smaller units (shard.unit)
error[E0409]: axis pp is not the first one of the mesh
  = help: ranks of a stage are neighbours: write pp before the others
error[E0409]: stages = 3 must be a multiple of pp = 2
error[E0409]: stages = 4 exceeds pp = 2
  = help: several stages per rank need pipeline = interleaved
error[E0409]: pipeline = interleaved needs train.accumulate = 3 to be a multiple of pp = 2
  = help: train.accumulate is the number of micro-batches per step
