# RUN: seq 300 > t.txt; seq 900 1200 > v.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 && %fsdp-run --quiet --threads 1 --log log p.bin && %python show.py log
# With weights that stay, each evaluation says the same: nothing is left of the ones before, nor of a training step.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("v.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 3; optimizer = sgd(lr = 0.0)
        eval_every = 1; eval_steps = 3; metric = accuracy(model(inputs), targets) }
==== show.py
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
found = [(e["loss"], e["accuracy"]) for e in events if e["event"] == "eval"]
print(len(found), len(set(found)), 4 < found[0][0] < 6)
==== out
3 1 True
