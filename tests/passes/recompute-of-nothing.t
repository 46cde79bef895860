# RUN: %fsdpc dump --stage=sched -s shard.recompute=none %s > %t/none
# RUN: %fsdpc dump --stage=sched -s shard.recompute=Linear %s | sed 's/, recompute = class("Linear") [-0-9:]*//; /^file/d' > %t/linear; sed '/^file/d' %t/none | diff - %t/linear
# Backward reads nothing that lies inside a single linear layer, so nothing of it is repeated.
# The user is told so.
==== net.fsd
module Net { e : Embedding(3, 4); l : Linear(4, 3, bias = true); forward(ids: [B, S]) = l(e(ids)) }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
warning[W0302]: recompute has no effect on these modules: all that backward reads of them is kept anyway
 --> -s:1:17
  |
1 | shard.recompute=Linear
  |                 ^^^^^^

