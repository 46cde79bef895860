# RUN: for w in true false; do %fsdpc compile -q -s written=$w att.fsd -o %t/p && %fsdp-run -q --log %t/$w %t/p; done
# RUN: %python compare.py %t/true %t/false
# Attention from matrix products, softmax and transpositions trains as the op does, within rounding.
==== compare.py
import json, sys
a, b = ([json.loads(l)["loss"] for l in open(f) if "step_ms" in l] for f in sys.argv[1:])
print(len(a), "steps, at most 1e-7 apart:", max(abs(x - y) for x, y in zip(a, b)) < 1e-7)
==== att.fsd
config { D = 12; H = 2; h = D // H; V = 17; written = false }
module Attention {
  qkv : Linear(D, 3 * D)
  out : Linear(D, D)
  forward(x: [B, T, D]) {
    q, k, v = split(qkv(x) as [B, T, 3, H, h], axis = 2)
    if written {
      scores = matmul(q as [B, H, T, h], k as [B, H, h, T]) / sqrt(h)
      y = matmul(softmax(scores), v as [B, H, T, h]) as [B, T, H, h]
      return out(y as [B, T, D])
    }
    return out(attention(q, k, v) as [B, T, D])
  }
}
module Net {
  wte : Embedding(V, D)
  attn : Attention
  head : Linear(D, V)
  forward(ids) { x = wte(ids)
    return head(x + attn(x)) }
}
model = Net
data { train = synthetic_tokens(vocab = 17); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 20; optimizer = adamw(lr = 1e-2) }
shard { mesh = (dp = 2); unit = Linear }
==== out
20 steps, at most 1e-7 apart: True
