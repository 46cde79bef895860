# RUN: for m in dp=1 dp=2 dp=4 dp=2,tp=2 dp=2,cp=2 pp=2,dp=2; do %fsdpc compile -q -W no-forward-only net.fsd --mesh $m -s train.accumulate=$([ $m = pp=2,dp=2 ] && echo 2 || echo 1) -o p.bin && %fsdp-run -q --threads 1 --log log p.bin && %python terms.py log $m; done
# Each term of a loss is logged, times its factor, in steps and evaluations. They add up to the loss, and are the same on all meshes; the pipeline has two micro-batches.
# NEEDS: build:device_cpu.so
# TIME: 60
==== terms.py
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
for e in events:
    if e["event"] in ("step", "eval"):
        terms = {k: v for k, v in e.items() if k.startswith("loss.")}
        near = abs(sum(terms.values()) - e["loss"]) < 1e-12 * abs(e["loss"])
        print(sys.argv[2], e["event"], *(f"{k[5:]} {v:.5f}" for k, v in terms.items()), near)
==== net.fsd
config { D = 8 }
module Block {
  up   : Linear(D, 2 * D)
  down : Linear(2 * D, D)
  forward(x) = x + down(relu(up(x)))
}
module Net {
  emb  : Embedding(128, D)
  h    : Block[2]
  head : Linear(D, 128)
  forward(ids: [B, T]) {
    x = emb(ids)
    for b in h { x = b(x) }
    return head(x)
  }
}
model = Net
data { train = text("net.fsd"); val = text("net.fsd"); length = 8 }
train { loss = (lm = cross_entropy(model(inputs), targets), flat = 0.01 * mean(logsumexp(model(inputs)) ** 2),
          rare = 0.5 * sum((targets > 100) * cross_entropy(model(inputs), targets, each = true)) / sum(targets > 100))
  batch = 8; steps = 2; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 1 }
shard { unit = Block }
==== out
dp=1 step lm 4.85206 flat 0.23542 rare 2.42611 True
dp=1 step lm 4.85210 flat 0.23542 rare 2.42609 True
dp=1 eval lm 4.85221 flat 0.23542 rare 2.42615 True
dp=2 step lm 4.85206 flat 0.23542 rare 2.42611 True
dp=2 step lm 4.85210 flat 0.23542 rare 2.42609 True
dp=2 eval lm 4.85221 flat 0.23542 rare 2.42615 True
dp=4 step lm 4.85206 flat 0.23542 rare 2.42611 True
dp=4 step lm 4.85210 flat 0.23542 rare 2.42609 True
dp=4 eval lm 4.85221 flat 0.23542 rare 2.42615 True
dp=2,tp=2 step lm 4.85206 flat 0.23542 rare 2.42611 True
dp=2,tp=2 step lm 4.85210 flat 0.23542 rare 2.42609 True
dp=2,tp=2 eval lm 4.85221 flat 0.23542 rare 2.42615 True
dp=2,cp=2 step lm 4.85206 flat 0.23542 rare 2.42611 True
dp=2,cp=2 step lm 4.85210 flat 0.23542 rare 2.42609 True
dp=2,cp=2 eval lm 4.85221 flat 0.23542 rare 2.42615 True
pp=2,dp=2 step lm 4.85206 flat 0.23542 rare 2.42611 True
pp=2,dp=2 step lm 4.85210 flat 0.23542 rare 2.42609 True
pp=2,dp=2 eval lm 4.85221 flat 0.23542 rare 2.42615 True
