# RUN: %python make.py && %fsdpc compile -q m.fsd -o p && %fsdp-run -q --threads 1 --log l p; %python near.py
# Label smoothing as docs/language.md writes it: PyTorch's, which counts no ignored target.
# NEEDS: build:device_cpu.so python:numpy
==== make.py
import numpy
r = numpy.random.default_rng(0)
numpy.save("x.npy", r.normal(size=(8, 6, 11)).astype("f4"))
numpy.save("t.npy", numpy.where(r.random((8, 6)) < 0.4, -100, r.integers(0, 11, (8, 6))).astype("i4"))
==== near.py
import json, numpy
x, t = numpy.load("x.npy").astype("f8"), numpy.load("t.npy")
each = numpy.log(numpy.exp(x).sum(-1, keepdims=True)) - x
of_target = numpy.take_along_axis(each, numpy.maximum(t, 0)[..., None], -1)[..., 0]
want = (0.9 * of_target + 0.1 * each.mean(-1))[t != -100].mean()
got = [json.loads(s)["loss"] for s in open("l") if '"event":"step"' in s][0]
print("the same" if abs(got / want - 1) < 1e-6 else f"{got}, not {want}")
==== m.fsd
module M {
  w : param[11] = zeros
  forward(x: [B, T, 11]) = x + w
}
model = M
data { train = npy(x = "x.npy", t = "t.npy"); order = sequential }
train {
  loss = 0.9 * cross_entropy(model(x), t) + 0.1 * sum((t != -100) * (logsumexp(model(x)) - mean(model(x), axis = -1))[:, :, 0]) / sum(t != -100)
  batch = 8; steps = 1; optimizer = sgd(lr = 0.1)
}
==== out
the same
