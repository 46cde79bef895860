# RUN: f() { echo "$*:" $(%fsdpc dump --format=json $* net.fsd 2>&- | %python -c 'import json, sys; c = json.load(sys.stdin)["predicted_peak_bytes"]["categories"]; print(*("%.2f" % (c[k] / 65536) for k in ("parameters", "optimizer", "gathered_parameters", "gradients")))'); }; s=-s\ shard.; a="-s train.accumulate=2"; b="-s train.precision=bf16"; f; f ${s}prefetch=0; f ${s}prefetch=2 ${s}inflight=3; f ${s}reduce_buffers=2; f ${s}reshard=2; f $a; f $a ${s}accumulate=local; f $b; f $b ${s}cast=update; f -s train.optimizer=sgd; for k in grads states none; do f ${s}strategy=$k; f ${s}strategy=$k $a; done
# 8 units of 64 KiB on 4 ranks, in units: parameters 8 / 4, with copies in bf16 half of it more, less what is lent while they are gathered whole, and Adam 16 / 4, or 8 and 16; gathered 1 + prefetch (bf16: half),
# or what is left of all, and none at the end of backward; gradients of a unit in flight and of one that is made, with one more for a buffer more, beside the shards reduced before (states: 8 kept).
# NEEDS: sanitizer:none
==== net.fsd
module Net { fc : Linear(128, 128)[8]
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return x } }
model = Net
data  { train = synthetic(x = [128], y = [128], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { mesh = (dp = 4); unit = Linear }
==== out
: 2.00 4.00 2.00 2.25
-s shard.prefetch=0: 2.00 4.00 0.00 3.75
-s shard.prefetch=2 -s shard.inflight=3: 2.00 4.00 3.00 2.00
-s shard.reduce_buffers=2: 2.00 4.00 2.00 3.25
-s shard.reshard=2: 2.00 4.00 4.50 1.25
-s train.accumulate=2: 2.00 4.00 2.00 3.25
-s train.accumulate=2 -s shard.accumulate=local: 2.00 4.00 2.00 9.25
-s train.precision=bf16: 2.00 4.00 1.00 3.25
-s train.precision=bf16 -s shard.cast=update: 3.00 4.00 1.00 3.25
-s train.optimizer=sgd: 2.00 0.00 2.00 2.25
-s shard.strategy=grads: 0.97 4.00 6.00 1.25
-s shard.strategy=grads -s train.accumulate=2: 0.75 4.00 6.00 3.25
-s shard.strategy=states: 0.97 4.00 6.00 1.25
-s shard.strategy=states -s train.accumulate=2: 2.00 4.00 10.00 8.00
-s shard.strategy=none: 8.00 16.00 0.00 8.00
-s shard.strategy=none -s train.accumulate=2: 8.00 16.00 0.00 10.00
