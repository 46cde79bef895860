# RUN: %python make.py && for loss in "kl(p, model(x))" "cross_entropy(model(x), p)"; do sed "s/LOSS/$loss/" m.fsd > n.fsd; %fsdpc compile -q n.fsd -o p && %fsdp-run -q --threads 1 --log l p; %python near.py "$loss"; done
# kl, and cross_entropy of probabilities, keep in bf16 what large logits leave of a difference.
# NEEDS: build:device_cpu.so python:numpy
==== make.py
import numpy
r = numpy.random.default_rng(0)
w = 25 + 3 * r.normal(size=64)
w = (w * 8).round() / 8  # has bf16
x = numpy.repeat(w[None], 8, 0)
p = numpy.exp(x + 0.3 * r.normal(size=x.shape) - 30)
p = p / p.sum(-1, keepdims=True)
numpy.save("x.npy", x.astype("f4"))
numpy.save("p.npy", p.astype("f4"))
==== near.py
import json, numpy, sys
x, p = (numpy.load(n + ".npy").astype("f8") for n in "xp")
rest = numpy.log(numpy.exp(x).sum(-1, keepdims=True)) - x
want = (p * (rest + numpy.log(p) * sys.argv[1].startswith("kl"))).sum(-1).mean()
got = [json.loads(s)["loss"] for s in open("l") if '"event":"step"' in s][0]
print(sys.argv[1], "is near" if abs(got / want - 1) < 1e-4 else f"is {got}, not {want}")
==== m.fsd
module M {
  w : param[64] = zeros
  forward(x: [B, 64]) = x + w
}
model = M
data { train = npy(x = "x.npy", p = "p.npy"); order = sequential }
train { loss = LOSS; batch = 8; steps = 1; optimizer = sgd(lr = 0.1); precision = bf16 }
==== out
kl(p, model(x)) is near
cross_entropy(model(x), p) is near
