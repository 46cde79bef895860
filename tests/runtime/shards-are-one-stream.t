# RUN: %python make.py && %fsdpc compile -q net.fsd -o p && %fsdp-run -q --threads 1 --save w --log log1 p && %fsdpc compile -q net.fsd -o p -s data.order=sequential && %fsdp-run -q --threads 1 --log logs p
# RUN: for n in 1 2 4; do %fsdpc compile -q net.fsd -o p -s train.batch=4 -n $n && %fsdp-run -q --threads 1 --log log$n-4 p; done; %python show.py
# Files that a glob finds are one stream in the order of their bytes; samples stay inside files; any ranks and batch go through it alike.
# NEEDS: build:device_cpu.so python:numpy
==== make.py
import numpy
for name, n, version in ("t_10", 27, 1), ("t_9", 21, 2), ("t_a", 4, 1), ("t_B", 18, 1), ("v_1", 11, 1), ("v_2", 6, 1):
    ids = numpy.random.RandomState(n).randint(0, 16, n)
    head = numpy.zeros(256, "<i4")
    head[:3] = 20240520, version, n
    open(name + ".bin", "wb").write(head.tobytes() + ids.astype("<u2" if version == 1 else "<u4").tobytes())
==== show.py
import json, numpy
raw = open("w", "rb").read()
n = int.from_bytes(raw[:8], "little")
at = json.loads(raw[8 : 8 + n])["w.weight"]["data_offsets"]
table = numpy.frombuffer(raw[8 + n + at[0] : 8 + n + at[1]], "<f4").reshape(16, 16).astype("f8")
cost = numpy.log(numpy.exp(table).sum(1))[:, None] - table  # of a token and the one after it
def samples(*names):
    for name in names:
        data = open(name + ".bin", "rb").read()
        ids = numpy.frombuffer(data[1024:], "<u4" if data[4] == 2 else "<u2")
        for k in range((len(ids) - 1) // 5):
            yield cost[ids[5 * k : 5 * k + 5], ids[5 * k + 1 : 5 * k + 6]].mean()
all_samples, val = numpy.array([*samples("t_10", "t_9", "t_B", "t_a")]), [*samples("v_1", "v_2")]
def losses(log, event="step"):
    return [e["loss"] for e in map(json.loads, open(log)) if e["event"] == event]
def orders(log):
    order = [int(abs(all_samples - x).argmin()) for x in losses(log)]
    return [order[i : i + 12] for i in range(0, 24, 12)]
one, two = orders("log1")
print(len(all_samples), orders("logs"), sorted(one) == sorted(two) == list(range(12)), one != two)
for n in 1, 2, 4:
    print(numpy.allclose(losses(f"log{n}-4"), numpy.reshape(losses("log1"), (6, 4)).mean(1), rtol=1e-6))
print(numpy.allclose(losses("log1", "eval"), numpy.mean(val)))
==== net.fsd
module Net {
  w : Embedding(16, 16, init = normal(1.0))
  forward(ids) = w(ids)
}
model = Net
data { train = tokens("t_*.bin"); val = tokens("v_*.bin"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 1; epochs = 2; eval_every = 12; eval_steps = 3; optimizer = sgd(lr = 0.0) }
==== out
12 [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]] True True
True
True
True
True
