# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 -s train.steps=1000000000; %fsdp-run --quiet --threads 1 --log log p & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; %fsdp-run --quiet --log log p; echo $?; kill -INT $p; wait $p; head -1 log | cut -c1-16; grep -c '"event":"start"' log; %fsdp-run --quiet --steps 1 --log log p; wc -l < log
# Two runs do not write to one log, and the second does not empty it.
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
2
{"event":"start"
1
3
==== err
error: cannot write log: another run writes to it
