# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 -s train.steps=1000000000; %fsdp-run --quiet --threads 1 --log log --save w p 2> err & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; prlimit --pid $p --fsize=50000; wait $p; c=$?; sed 's/step [0-9]*/step N/' err >&2; test -s w && echo saved; exit $c
# Where the log can no longer be written the run ends after a step, and saves.
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
==== out
saved
==== err
error: rank 0: cannot write the log log: File too large
help: the run ended after step N; the weights are in w
==== exit 2
