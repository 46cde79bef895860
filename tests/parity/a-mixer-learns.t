# RUN: for n in 1 2; do %fsdpc compile -q -n $n mixer.fsd -o %t/p && %fsdp-run -q --log %t/$n %t/p; done
# RUN: %python compare.py %t/1 %t/2
# An MLP-Mixer, which mixes along tokens through names of axes, learns, and 2 ranks train as 1 does.
==== compare.py
import json, sys
a, b = ([json.loads(l)["loss"] for l in open(f) if "step_ms" in l] for f in sys.argv[1:])
print("learns:", a[-1] < a[0] / 2, "ranks agree within 1e-5 (measured: 1e-6):", max(abs(x - y) for x, y in zip(a, b)) < 1e-5)
==== mixer.fsd
config { S = 9 "patches"; P = 4 "numbers of a patch"; D = 12; N = 3 "classes" }
module MLP(inp, hidden) {
  up : Linear(inp, hidden, bias = true)
  down : Linear(hidden, inp, bias = true)
  forward(x) = down(gelu(up(x)))
}
module Block {
  norm1, norm2 : LayerNorm(D)
  tokens : MLP(S, 16)
  channels : MLP(D, 32)
  forward(x: [B, S, D]) {
    x += tokens(norm1(x) as [B, D, S]) as [B, S, D]
    return x + channels(norm2(x))
  }
}
module Mixer {
  embed : Linear(P, D)
  layers : Block[2]
  norm : LayerNorm(D)
  head : Linear(D, N)
  forward(x: [B, S * P]) {
    y = embed(x as [B, S, P])
    for block in layers { y = block(y) }
    return head(mean(norm(y), axis = 1)[:, 0])
  }
}
model = Mixer
data { train = synthetic(x = [36], y = 3, samples = 256) }
train { loss = cross_entropy(model(x), y); batch = 32; steps = 40; optimizer = adamw(lr = 1e-2) }
shard { mesh = (dp = 1); unit = Block }
==== out
learns: True ranks agree within 1e-5 (measured: 1e-6): True
