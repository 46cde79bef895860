# RUN: seq 300 >t.txt; %fsdpc compile -q net.fsd -o p && export FSDP_EMULATE_GPUS=4 && for t in "cuda --transport nccl" "cuda --transport local" cpu; do %build/emulated/run/fsdp-run -q --threads 1 --device $t --log "$t.log" --save "$t" p || exit; done; cmp "cuda --transport nccl" "cuda --transport local" && %python near.py "cuda --transport local.log" cpu.log
# Along zigzag a rank has a piece of positions from the front and one from the back: over nccl and on the emulated GPU too, beside tp.
# NEEDS: build:device_cpu.so build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 60
# WAITS: for ranks in other processes
==== net.fsd
module Attention {
  qkv : Linear(16, 48)
  out : Linear(16, 16)
  forward(x: [B, T, 16]) {
    q, k, v = split(qkv(x) as [B, T, 3, 2, 8], axis = 2)
    return out(attention(rope(q), rope(k), v, causal = true) as [B, T, 16])
  }
}
module Net {
  emb : Embedding(128, 16)
  pos : Embedding(8, 16)
  h : Attention[2]
  forward(ids: [B, T]) {
    x = dropout(emb(ids) + pos(iota(T)), 0.1)
    for layer in h { x = x + layer(x) }
    return linear(x, emb.weight)
  }
}
model = Net
data  { train = text("t.txt"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 4; optimizer = adamw(lr = 0.01) }
shard { mesh = (zigzag = 2, tp = 2); unit = Attention }
==== near.py
import json
import sys

logs = [[json.loads(line) for line in open(name, encoding="utf-8")] for name in sys.argv[1:]]
losses = [[e["loss"] for e in log if e["event"] == "step"] for log in logs]
worst = max(abs(a - b) / b for a, b in zip(*losses, strict=True))
print(len(losses[0]), "losses as on the cpu" if worst < 1e-6 else f"losses {worst:.3g} away")
==== out
4 losses as on the cpu
