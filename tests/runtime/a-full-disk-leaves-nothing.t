# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 && ulimit -f 2 && %fsdp-run --quiet --threads 1 --save w p.bin; c=$?; ls w* 2> /dev/null; exit $c
# A disk without room leaves no half-written weights behind.
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
error: rank 0: cannot write w: File too large
==== exit 2
