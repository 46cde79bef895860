# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -s train.steps=1000000000 -n 2
# RUN: nohup %fsdp-run --threads 1 --log log --steps 200000 p.bin > out 2> err & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; kill -HUP $p; until grep -q '"step":29,' log || ! kill -0 $p; do sleep 0.1; done; kill -TERM $p; wait $p; grep -c '"step":[0-9]' log > n; test $(cat n) -gt 20 && echo went on
# RUN: rm log; for s in INT TERM HUP; do %fsdp-run --threads 1 --log log --save w p.bin > out 2> err & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; kill -$s $p; wait $p; c=$?; cut -d' ' -f1 out; tail -1 err; tail -1 log | grep -o '"event":"end"'; ls w*; rm w log; done; exit $c
# A run that is interrupted, or whose terminal is gone, finishes its step, saves, and reports it; under nohup it continues.
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
went on
steps
loss
last
best
tokens/s
model
arena
interrupted after a whole step; the weights are in w
"event":"end"
w
steps
loss
last
best
tokens/s
model
arena
interrupted after a whole step; the weights are in w
"event":"end"
w
steps
loss
last
best
tokens/s
model
arena
interrupted after a whole step; the weights are in w
"event":"end"
w
==== exit 130
