# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 -s 'train.optimizer=sgd(lr = 1e30)' -s train.on_nan=skip
# RUN: %fsdp-run --quiet --threads 1 --steps 1 --save a p.bin && %fsdp-run --threads 1 --log log --save b p.bin 2> err | grep -a skipped; cmp a b && echo unchanged; grep -o '[0-9] skipped' err; grep -o '"step":[0-9]\|"skipped":true' log
# Steps that are not finite are skipped: they change no weight, and are counted and shown.
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
skipped         3 of them, which were not finite or had no target
unchanged
3 skipped
"step":0
"step":1
"skipped":true
"step":2
"step":2
"skipped":true
"step":3
"skipped":true
"step":4
