# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --log l --save w p && python3 %root/tests/checkpoint/crash.py %fsdp-run %build/tests/modules/crash.so p l w killed
# Killed at any call that changes files, a run leaves whole checkpoints; the next one ends with the bits of one that was
# not killed, and leaves nothing else behind.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
# TIME: 300
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 6; optimizer = adamw(lr = 0.1); eval_every = 3; eval_steps = 2 }
==== out
killed: killed
