# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && %fsdp-run -q --threads 1 --log log --tensorboard runs p && %python %root/tests/runtime/events.py runs log tensorboard | tail -1
# TensorBoard's own reader finds every number that is in an event file.
# NEEDS: build:device_cpu.so python:tensorboard
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
tensorboard: True
