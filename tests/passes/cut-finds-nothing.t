# RUN: %fsdpc compile %s -o %t/p 2>&1 | grep -v '^per rank\|^at the peak\|^net.fsd'
# Where ops need whole values, ranks along tp repeat each other's work, and a warning says so.
==== net.fsd
module Net {
  o : Linear(8, 4)
  forward(x) = softmax(o(x))
}
model = Net
data  { train = synthetic(x = [8], y = 4, samples = 64) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 1, tp = 2) }
==== out
warning[W0302]: tp = 2: no parameter can be shared out, so these ranks repeat each other's work

tp = 2: ranks share out 0 parameters, each holds 32 whole
