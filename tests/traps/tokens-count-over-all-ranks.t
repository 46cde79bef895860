# RUN: %python numbers.py; for o in "-n 1" "-n 2" "-n 4" "-n 2 -s train.accumulate=2"; do %fsdpc compile -q $o net.fsd -o p && %fsdp-run -q --threads 1 --log log p && %python -c 'import json; print([round(e["loss"], 5) for e in map(json.loads, open("log")) if e["event"] == "step"])'; done | uniq -c
# A mean of ranks' means weighs the tokens of ranks with few of them more; here the count is that of all: 4, 1, 0 and 2 are 7.
# NEEDS: build:device_cpu.so
==== numbers.py
import struct
def npy(name, kind, fmt, values, shape):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%d%s" % (len(values), fmt), *values))
npy("x.npy", "<i4", "i", [k % 5 for k in range(16)], (4, 4))
npy("y.npy", "<i4", "i", [1, 2, 0, 1] + [2, -100, -100, -100] + [-100] * 4 + [0, -100, 1, -100], (4, 4))
==== net.fsd
module Net { e : param[5, 3] = normal(1.0); forward(ids) = gather(e, ids) }
model = Net
data  { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 3; optimizer = sgd(lr = 0.5) }
==== out
      4 [1.52431, 1.42977, 1.34186]
