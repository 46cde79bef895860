# RUN: %fsdpc compile %s -o %t/p 2>&1 | grep -v '^per rank\|^at the peak\|^net.fsd'
# Where ops need whole values, ranks along tp repeat each other's work, and a warning says so.
==== net.fsd
module Net {
  e : Embedding(32, 8)
  o : Linear(8, 32)
  forward(ids) = o(e(ids))
}
model = Net
data  { train = synthetic_tokens(32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 1, tp = 2) }
==== out
