# RUN: %python make.py && %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run --quiet --eval-only --load w.safetensors --log log p && sed -n 's/.*\("accuracy.*\),"time.*/\1/p' log
# accuracy(.., k = 2) counts targets among the two largest scores, of equal ones the first; mse beside it is the mean over elements.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  w : Linear(4, 4)
  forward(x) = w(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy", z = "z.npy"); val = npy(x = "x.npy", y = "y.npy", z = "z.npy"); order = sequential }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 2; eval_every = 1; eval_steps = 1
        metric = [accuracy(model(x), y), accuracy(model(x), y, k = 2), accuracy(model(x), y, k = 4), mse(model(x), z)] }
==== make.py
import json, struct
def npy(path, kind, shape, values):
    head = "{'descr': '<%s4', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head = head.ljust(117) + "\n"
    body = struct.pack("<%d%s" % (len(values), kind), *values)
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + body)
x = [4, 3, 2, 1] + [1, 2, 2, 0] + [5, 5, 5, 5] + [0, 1, 2, 3]
npy("x.npy", "f", (4, 4), x)
npy("y.npy", "i", (4,), [1, 2, 1, 3])
npy("z.npy", "f", (4, 4), [v + 0.5 for v in x])
w = struct.pack("<16f", *[float(i == j) for i in range(4) for j in range(4)])
head = json.dumps({"w.weight": {"dtype": "F32", "shape": [4, 4], "data_offsets": [0, 64]}}).encode()
open("w.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + w)
==== out
"accuracy":0.25,"top2_accuracy":1.0,"top4_accuracy":1.0,"mse":0.25
