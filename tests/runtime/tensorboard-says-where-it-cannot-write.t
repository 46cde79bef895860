# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; touch file; for d in file file/x /proc/x; do %fsdp-run -q --tensorboard $d p; echo "$d: $?"; done; %fsdp-run --generate a --load w --tensorboard r p; true
# RUN: (ulimit -f 0; %fsdp-run -q --tensorboard r p 2>&1; echo $?) | sed 's/tfevents[^:]*/tfevents/'; ls r; (ulimit -f 4; %fsdp-run -q --tensorboard r --save w p 2>&1; echo $?) | sed 's/tfevents[^:]*/tfevents/; s/step [0-9]*/step N/'; ls w
# Event files that cannot be made are an error before the first step; where the disk is full later, the run ends and saves.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(16, 1)
  out : Linear(1, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = synthetic_tokens(vocab = 16); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 300; optimizer = sgd(lr = 0.1) }
==== out
file: 2
file/x: 2
/proc/x: 2
error: cannot write r/events.out.tfevents: File too large
2
error: cannot write r/events.out.tfevents: File too large
help: the run ended after step N; the weights are in w
2
w
==== err
error: --tensorboard file: cannot make this folder: Not a directory
error: --tensorboard file/x: cannot make this folder: Not a directory
error: --tensorboard /proc/x: cannot make this folder: No such file or directory
error: --generate computes no loss, so it excludes --tensorboard
help: fsdp-run --help lists the options
