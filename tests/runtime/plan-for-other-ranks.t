# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd --preset wide -s 'data.train=text("t.txt", to = 0.5)' -s train.optimizer=sgd -o p.bin -n 2
# RUN: %fsdp-run -n 3 p.bin 2>&1 | sed -n 's,^help: fsdpc compile,%fsdpc compile -q,p' > again.sh; bash again.sh && %fsdp-run --quiet p.bin > out && %fsdp-run -n 2 p.bin
# A plan for another number of ranks says how to compile it, with the options that it was made of.
==== toy.fsd
config { D = 4 }
preset "wide" { D = 8 }
module Toy {
  emb : Embedding(128, D)
  out : Linear(D, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 3 }
==== err
error: p.bin was compiled for 3 ranks, but -n asks for 2
help: fsdpc compile toy.fsd --preset wide -s 'data.train=text("t.txt", to = 0.5)' -s train.optimizer=sgd -o p.bin -n 2
==== exit 1
