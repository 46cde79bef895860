# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && %fsdp-run --threads 1 --log - p 2> err | grep -o '"event":"[a-z]*"'; awk '/^arena bytes/ {print ($3 > 0) + ($3 == $5)}' err; test ! -e ./-
# The log `-` is standard output; the summary then goes to standard error.
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
"event":"start"
"event":"step"
"event":"step"
"event":"eval"
"event":"step"
"event":"step"
"event":"eval"
"event":"end"
2
