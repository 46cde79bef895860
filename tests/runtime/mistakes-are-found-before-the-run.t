# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 && ! %fsdp-run --data trian=t.txt p.bin && ! %fsdp-run --data train=none.txt p.bin && ! %fsdp-run --steps 5 p.bin && ! %fsdp-run --dump-grads 4=g p.bin && seq 20 > short.txt && ! %fsdp-run --data val=short.txt p.bin && ! %fsdp-run --save no/w p.bin && ! %fsdp-run --load t.txt p.bin
# Settings that cannot work are reported before the first step.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 3 }
==== err
error: --data trian=...: the plan's data files are: train val
help: did you mean `train`?
error: cannot open data file none.txt: No such file or directory
help: data paths are relative to the working directory; --data train=PATH names another file
error: --steps 5: the plan's schedule has only 4 steps
help: compile with -s train.steps=5
error: --dump-grads 4: the run's steps are 0 to 3
error: evaluation reads eval_steps * batch = 18 samples, but data.val (short.txt) has only 10
help: compile with -s train.eval_steps=1
error: cannot write no/w: there is no folder no/
error: t.txt: not a safetensors file: the header is longer than the file or 100 MiB
