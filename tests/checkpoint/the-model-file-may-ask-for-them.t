# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; %fsdpc dump --raw p | grep -a '^checkpoints'; %fsdp-run -q --threads 1 p; ls k
# RUN: %fsdp-run -q --threads 1 --checkpoint other --keep 1 --checkpoint-every 4 p; ls other; %fsdpc compile toy.fsd -n 2 -o q -s checkpoint.path=none 2>&1 | grep effect; mkdir no; cd no; ln -s ../t.txt; %fsdp-run -q --keep 1 ../q; %fsdp-run -q ../q; ls
# Section checkpoint says what the options do; the command line wins; without a folder there are no checkpoints.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 7; optimizer = adamw(lr = 0.1); eval_every = 3; eval_steps = 2 }
checkpoint { path = "k"; every = 2; keep = none; keep_every = 4; keep_best = true }
==== out
checkpoints "k" every 2 keep 0 and multiples of 4 and the best
lock
step-00000002
step-00000004
step-00000006
step-00000007
lock
step-00000004
step-00000007
warning[W0302]: no checkpoint.path: every has no effect
warning[W0302]: no checkpoint.path: keep has no effect
warning[W0302]: no checkpoint.path: keep_every has no effect
warning[W0302]: no checkpoint.path: keep_best has no effect
t.txt
==== err
error: --keep needs --checkpoint FOLDER, or checkpoint.path in the model file
