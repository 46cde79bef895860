# RUN: %fsdpc dump --stage=config -s train.schedule=none -s shard.unit=none tiny.fsd 2>&1 | grep -E '^  (schedule|unit) '; for k in train.optimizer train.on_nan shard.prefetch; do %fsdpc dump --stage=config -s $k=none tiny.fsd 2>&1 | sed -n 1p; done; true
# A key whose default is not its being off is never set back to that default by `none`.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
shard { unit = Linear }
==== out
  schedule         = constant(warmup = 0)     # -s
  unit             = root                     # -s
error[E0310]: train.optimizer must be a call, not none
error[E0310]: train.on_nan must be a name, not none
error[E0310]: shard.prefetch must be an integer or a list, not none
