# RUN: %python %root/tests/pipeline/turns.py %fsdpc %s && %fsdpc dump --mesh pp=2 -s train.batch=64 -s train.accumulate=32 %s 2>&- | sed -n '/^calls of/,/^program/p'
# Where backward takes twice as long as forward, a step of M micro-batches takes M v + pp - 1 turns, of which pp - 1 are
# idle, under every pipeline, also with fewer micro-batches than stages. dump shows the calls as a picture, cut at the width.
# TIME: 60
==== net.fsd
module Net {
  h : Linear(8, 8)[9]
  forward(x: [B, D]) { for f in h { x = relu(f(x)) }; return x }
}
model = Net
data { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 16; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== out
pp=2 M=1 v=1: 2 turns, 1 idle
pp=2 M=2 v=1: 3 turns, 1 idle
pp=2 M=4 v=1: 5 turns, 1 idle
pp=2 M=8 v=1: 9 turns, 1 idle
pp=2 M=16 v=1: 17 turns, 1 idle
pp=3 M=1 v=1: 3 turns, 2 idle
pp=3 M=2 v=1: 4 turns, 2 idle
pp=3 M=4 v=1: 6 turns, 2 idle
pp=3 M=8 v=1: 10 turns, 2 idle
pp=3 M=16 v=1: 18 turns, 2 idle
pp=4 M=1 v=1: 4 turns, 3 idle
pp=4 M=2 v=1: 5 turns, 3 idle
pp=4 M=4 v=1: 7 turns, 3 idle
pp=4 M=8 v=1: 11 turns, 3 idle
pp=4 M=16 v=1: 19 turns, 3 idle
pp=8 M=1 v=1: 8 turns, 7 idle
pp=8 M=2 v=1: 9 turns, 7 idle
pp=8 M=4 v=1: 11 turns, 7 idle
pp=8 M=8 v=1: 15 turns, 7 idle
pp=8 M=16 v=1: 23 turns, 7 idle
pp=2 M=1 v=1: 2 turns, 1 idle
pp=2 M=2 v=1: 3 turns, 1 idle
pp=2 M=4 v=1: 5 turns, 1 idle
pp=2 M=8 v=1: 9 turns, 1 idle
pp=2 M=16 v=1: 17 turns, 1 idle
pp=3 M=1 v=1: 3 turns, 2 idle
pp=3 M=2 v=1: 4 turns, 2 idle
pp=3 M=4 v=1: 6 turns, 2 idle
pp=3 M=8 v=1: 10 turns, 2 idle
pp=3 M=16 v=1: 18 turns, 2 idle
pp=4 M=1 v=1: 4 turns, 3 idle
pp=4 M=2 v=1: 5 turns, 3 idle
pp=4 M=4 v=1: 7 turns, 3 idle
pp=4 M=8 v=1: 11 turns, 3 idle
pp=4 M=16 v=1: 19 turns, 3 idle
pp=2 M=4 v=2: 9 turns, 1 idle
pp=2 M=8 v=2: 17 turns, 1 idle
pp=2 M=16 v=2: 33 turns, 1 idle
pp=4 M=4 v=2: 11 turns, 3 idle
pp=4 M=8 v=2: 19 turns, 3 idle
pp=4 M=16 v=2: 35 turns, 3 idle
calls of a step, time to the right: forward (F) of a micro-batch takes one column, backward (B) two
  a rank is idle for 3 of 99 columns; here are the first 26

  stage 0     F0  F1          B0----- F2  B1----- F3  B2----- F4  B3----- F5  B4----- F6  B5----- F7  B6----- F8  B7-- ..
  stage 1         F0  B0----- F1  B1----- F2  B2----- F3  B3----- F4  B4----- F5  B5----- F6  B6----- F7  B7----- F8 ..

program first of stage 0, forward: once a step; 29 instructions, peak 6.6 KiB
