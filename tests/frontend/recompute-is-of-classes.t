# RUN: %fsdpc dump --stage=model -s 'shard.recompute=[["h.0"]]' %s
# recompute takes classes, ops and what is kept, not module paths.
==== net.fsd
module Net { e : Embedding(3, 3); forward(ids) = e(ids) }
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0318]: recompute must be a class, or (Class, .., ops = .., keep = ..)
 --> -s:1:17
  |
1 | shard.recompute=[["h.0"]]
  |                 ^^^^^^^^^

==== exit 1
