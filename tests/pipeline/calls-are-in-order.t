# RUN: show() { %fsdpc compile -q %s -o %t/p "$@"; %fsdpc dump --raw %t/p | sed -n 's/^call role \([0-9]*\) step [a-z]* times 1 stage \([0-9]*\) \(.\)[a-z]* micro-batch \([0-9]*\) slot \([0-9]*\)$/\1 \3\2.\4\/\5/p' | awk '{ r[$1] = r[$1] " " $2 } END { for (i = 0; i in r; i++) print i ":" r[i] }'; }; show --mesh pp=3 -s train.accumulate=4; show --mesh pp=2 -s train.accumulate=3 -s shard.pipeline=gpipe; show --mesh pp=2 -s train.accumulate=4 -s shard.pipeline=interleaved -s shard.stages=4; show --mesh pp=4 -s train.accumulate=2
# Of each role: forward (f), backward (b), or both and updates (w) of stage.micro-batch/slot. One forward, one backward
# begins with pp - s - 1 forwards, interleaved with 2 (pp - s - 1) + (v - 1) pp.
==== net.fsd
module Net {
  h : Linear(8, 8)[4]
  forward(x: [B, D]) { for f in h { x = relu(f(x)) }; return x }
}
model = Net
data { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 24; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== out
