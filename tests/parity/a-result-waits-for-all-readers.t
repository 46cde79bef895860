# RUN: %python data.py && for n in 1 2; do %fsdpc compile -q -n $n sums.fsd -o p && FSDP_CHECK=memory %fsdp-run -q --log $n p 2> err; done
# RUN: %python compare.py 1 2
# A formula's result of as many elements as an operand, each made of a whole row of it, does not take its memory.
# NEEDS: python:numpy
==== sums.fsd
config { n = 200 }
module Running {
  w : param[n] = ones
  forward(x: [B, n]) {
    before = where((iota(n) as [n, 1]) >= iota(n), 1, 0)
    return (sum(((2 * x) as [B, 1, n]) * before, axis = -1) as [B, n]) * w
  }
}
model = Running
data { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = mse(model(x), y); batch = 4; steps = 2; optimizer = sgd(lr = 1e-6) }
==== data.py
import numpy as np
r = np.random.default_rng(1)
for name in "xy":
    np.save(name + ".npy", r.normal(size=(8, 200)).astype("f4"))
==== compare.py
import json, sys
import numpy as np
x, y = (np.load(n + ".npy").astype("f8") for n in "xy")
w = np.ones(200)
want = []
for s in range(2):
    d = np.cumsum(2 * x[4 * s : 4 * s + 4], 1)
    e = d * w - y[4 * s : 4 * s + 4]
    want.append((e**2).mean())
    w -= 1e-6 * (2 * e * d).sum(0) / e.size
for f in sys.argv[1:]:
    got = [json.loads(l)["loss"] for l in open(f) if "step_ms" in l]
    print("within 1e-6 (measured: 2e-9):", max(abs(g / v - 1) for g, v in zip(got, want)) < 1e-6)
==== out
within 1e-6 (measured: 2e-9): True
within 1e-6 (measured: 2e-9): True
