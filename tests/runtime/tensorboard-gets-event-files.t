# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && %fsdp-run -q --threads 1 --log log --tensorboard a/b/c --peak-flops 1G p && %python %root/tests/runtime/events.py a/b/c log; %python damage.py a/b/c; %python %root/tests/runtime/events.py a/b/c log 2>&1 | tail -1
# An event file has the numbers and times of the log, with checksums that hold; a changed byte breaks one.
# NEEDS: build:device_cpu.so
==== damage.py
import glob, sys
(path,) = glob.glob(sys.argv[1] + "/*")
data = bytearray(open(path, "rb").read())
data[-9] ^= 1
open(path, "wb").write(data)
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 300; optimizer = sgd(lr = 0.1); eval_every = 150; eval_steps = 3
        metric = accuracy(model(inputs), targets) }
==== out
brain.Event:2
eval/accuracy eval/loss train/grad_norm train/loss train/lr train/mfu train/model_flops_per_s train/tokens_per_s
numbers of the log: True 1804
times of the log: True
AssertionError: data
==== exit 1
