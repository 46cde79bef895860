# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; r="%fsdp-run -q --threads 1 --tensorboard runs --checkpoint ck --checkpoint-every 20"; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=dump CRASH_AT=1 $r --restarts 2 --dump-grads 49=dump p 2> /dev/null; $r --resume-or-start ck --log log p; %python curve.py 2> /dev/null
# RUN: %fsdp-run -q --threads 1 --tensorboard runs p; %python curve.py 2> /dev/null
# A run that is restarted and resumes from its checkpoints is one curve, in several files; another run replaces it.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so python:tensorboard
# TIME: 60
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 60; optimizer = sgd(lr = 0.1); eval_every = 10; eval_steps = 3 }
==== curve.py
import glob
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
a = EventAccumulator("runs")
a.Reload()
loss, values = [p.step for p in a.Scalars("train/loss")], {(p.step, p.value) for p in a.Scalars("train/loss")}
print(len(glob.glob("runs/*")) > 2, loss == list(range(1, 61)), len(values), [p.step for p in a.Scalars("eval/loss")])
==== out
True True 60 [10, 20, 30, 40, 50, 60]
True True 60 [10, 20, 30, 40, 50, 60]
