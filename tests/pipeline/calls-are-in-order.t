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
0: f0.0/0 f0.1/1 f0.2/2 b0.0/0 f0.3/0 b0.1/1 b0.2/2 b0.3/0 w0.0/0
1: f1.0/0 f1.1/1 b1.0/0 f1.2/0 b1.1/1 f1.3/1 b1.2/0 b1.3/1 w1.0/0
2: w2.0/0 w2.1/0 w2.2/0 w2.3/0 w2.0/0
0: f0.0/0 f0.1/1 f0.2/2 b0.0/0 b0.1/1 b0.2/2 w0.0/0
1: w1.0/0 w1.1/0 w1.2/0 w1.0/0
0: f0.0/0 f0.1/1 f2.0/2 f2.1/3 f0.2/4 b2.0/2 f0.3/2 b2.1/3 f2.2/3 b0.0/0 f2.3/0 b0.1/1 b2.2/3 b2.3/0 b0.2/4 b0.3/2 w0.0/0
1: f1.0/0 f1.1/1 w3.0/0 w3.1/0 f1.2/2 b1.0/0 f1.3/0 b1.1/1 w3.2/0 w3.3/0 b1.2/2 b1.3/0 w1.0/0
0: f0.0/0 f0.1/1 b0.0/0 b0.1/1 w0.0/0
1: f1.0/0 f1.1/1 b1.0/0 b1.1/1 w1.0/0
2: f2.0/0 f2.1/1 b2.0/0 b2.1/1 w2.0/0
3: w3.0/0 w3.1/0 w3.0/0
