# RUN: %fsdpc dump --stage=reshard %s
# reshard = K divides the ranks.
==== m.fsd
module Net { fc : Linear(8, 8)
  forward(x) = fc(x) }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 8); reshard = 3 }
==== err
error[E0318]: reshard = 3 must divide dp = 8
 --> m.fsd:6:36
  |
6 | shard { mesh = (dp = 8); reshard = 3 }
  |                                    ^

==== exit 1
