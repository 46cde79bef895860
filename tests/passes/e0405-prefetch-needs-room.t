# RUN: %fsdpc dump --stage=comm %s
# Gathering farther ahead than what may be in flight is an error, which shows both settings.
==== m.fsd
module Net { fc : Linear(8, 8)
  forward(x) = fc(x) }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Linear; inflight = 3
        prefetch = 3 }
==== err
error[E0405]: prefetch = 3 needs inflight >= 4
 --> m.fsd:7:20
  |
7 |         prefetch = 3 }
  |                    ^
note: inflight is 3
 --> m.fsd:6:35
  |
6 | shard { unit = Linear; inflight = 3
  |                                   ^

==== exit 1
