# RUN: for a in "-n 1" "-n 2" "-n 2 -s train.accumulate=3" "-n 2 -s shard.recompute=Block"; do %fsdpc compile -q $a toy.fsd -o p && %fsdp-run --quiet --threads 1 --log log --peak-flops 2.5G p && %python show.py log; done; %fsdp-run p --quiet --log log; grep -c mfu log; for o in "--peak-flops 1e9" ""; do %fsdp-run --threads 1 $o p 2>&1 | grep -o "^MFU\|of 1e+09.*\|MFU"; done; true
# RUN: %fsdp-run --threads 1 --peak-flops 1e9 p 2> err | awk '/^model FLOP/ {w = $3} /^MFU/ {d = $2 - 100 * w / $5; print (d < 0.06 && d > -0.06)}'
# Model FLOPs are the products of a step, for any ranks and micro-batches and without recomputation; MFU is their rate over the peak.
# NEEDS: build:device_cpu.so
==== show.py
import json, sys
tokens, pairs = 6 * 5, 6 * (5 * 6 // 2)  # pairs of query and key, causal
forward = 2 * tokens * (4 * 12 + 4 * 128) + 2 * 2 * pairs * 4
start, step = [json.loads(line) for line in open(sys.argv[1])][:2]
rate = step["model_flops_per_s"]
print(start["model_flops"] == 3 * forward, abs(rate * step["step_ms"] / 1e3 / (3 * forward) - 1) < 1e-9, round(step["mfu"] * 2.5e9 / rate, 9))
==== toy.fsd
module Block {
  qkv : Linear(4, 12)
  forward(x: [B, T, 4]) {
    q, k, v = split(qkv(x) as [B, T, 3, 1, 4], axis = 2)
    return x + attention(q, k, v, causal = true) as [B, T, 4]
  }
}
module Toy {
  emb : Embedding(128, 4)
  block : Block
  out : Linear(4, 128)
  forward(x) = out(block(emb(x)))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 1; optimizer = sgd(lr = 0.1) }
==== t.txt
some letters, more than the samples of this run take
==== out
True True 1.0
True True 1.0
True True 1.0
True True 1.0
0
MFU
MFU
of 1e+09 FLOP/s
1
