# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 && %fsdp-run -n 3 p.bin
# A plan for another number of ranks says how to compile one.
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
error: p.bin was compiled for 2 ranks, and -n asks for 3
help: fsdpc compile toy.fsd -o p.bin -n 3
==== exit 1
