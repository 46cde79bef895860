# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; for c in 200 80 50 20; do %python %root/tests/runtime/terminal.py $c xterm %fsdp-run --threads 1 p; done; %python %root/tests/runtime/terminal.py 80 dumb %fsdp-run --threads 1 p
# The bar with evaluations is never wider than the terminal; a dumb terminal gets lines without escapes.
# NEEDS: build:device_cpu.so sanitizer:none
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 400; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 3
        metric = accuracy(model(inputs), targets) }
==== out
bars fit
evaluations True exit 0
bars fit
evaluations True exit 0
bars fit
evaluations True exit 0
bars fit
evaluations True exit 0
no escapes
evaluations True exit 0
