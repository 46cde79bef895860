# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 -s train.steps=6 && %fsdp-run --threads 1 p 2>&1 > out | grep -o '^step .*evaluation\|loss\|accuracy'; grep -o "^eval accuracy\|^tokens/s" out
# If stderr is not a terminal, each evaluation prints a line with all its metrics; the summary has the last ones.
# NEEDS: build:device_cpu.so
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
step 2/6  evaluation
loss
accuracy
step 4/6  evaluation
loss
accuracy
loss
step 6/6  evaluation
loss
accuracy
eval accuracy
tokens/s
