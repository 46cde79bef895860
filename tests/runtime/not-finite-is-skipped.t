# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 -s 'train.optimizer=sgd(lr = 1e30)' -s train.on_nan=skip
# RUN: %fsdp-run --quiet --threads 1 --steps 1 --save a p.bin && %fsdp-run --quiet --threads 1 --save b p.bin && cmp a b && echo unchanged
# Steps that are not finite are skipped: they change no weight.
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
unchanged
