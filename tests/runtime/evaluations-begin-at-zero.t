# RUN: seq 300 > t.txt; seq 900 1200 > v.txt; for k in 1 3; do %fsdpc compile -q toy.fsd -o p$k -n 2 -s train.eval_every=$k && %fsdp-run --quiet --threads 1 --log log$k p$k; done; %python show.py
# An evaluation has nothing of those before it, nor of a training step: the last of three is that of a
# run which evaluates once. Weights change in between, so a sum that went on would show.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("v.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 3; optimizer = sgd(lr = 0.5)
        eval_every = 1; eval_steps = 3; metric = accuracy(model(inputs), targets) }
==== show.py
import json
def found(log):
    events = [json.loads(line) for line in open(log)]
    return [(e["loss"], e["accuracy"]) for e in events if e["event"] == "eval"]
often, once = found("log1"), found("log3")
print(len(often), len(set(often)), len(once), often[-1] == once[-1])
==== out
3 3 1 True
