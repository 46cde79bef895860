# RUN: %python make.py; for n in 1 2 3; do %fsdpc compile -q -n $n net.fsd -o p$n.bin && %fsdp-run --quiet --threads 1 --log log$n p$n.bin; done; %python show.py
# mse and its gradient are means over the elements of the global batch: on 1, 2 and 3 ranks a linear
# regression has the losses that Python's doubles give.
# NEEDS: build:device_cpu.so
==== make.py
import struct
def save(path, shape, rows):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
    open(path, "wb").write(head + b"".join(struct.pack(f"<{len(r)}f", *r) for r in rows))
x = [[(7 * i + 5 * k * k) % 17 / 4 - 2 for k in range(3)] for i in range(12)]
save("x.npy", (12, 3), x)
save("y.npy", (12, 2), [[a - 2 * b + 0.5, c + 1] for a, b, c in x])
==== net.fsd
module Net {
  w : param[2, 3] = zeros
  b : param[2] = zeros
  forward(x) = linear(x, w, b)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy") }
train { loss = mse(model(x), y); batch = 12; steps = 12; optimizer = sgd(lr = 0.1) }
==== show.py
import json, struct
def load(path, n): return struct.unpack(f"<{12 * n}f", open(path, "rb").read()[-48 * n:])
x, y, w, b, losses = load("x.npy", 3), load("y.npy", 2), [[0] * 3, [0] * 3], [0, 0], []
for _ in range(12):
    e = [[sum(w[o][k] * x[3 * i + k] for k in range(3)) + b[o] - y[2 * i + o] for o in (0, 1)]
         for i in range(12)]
    losses.append(sum(d * d for row in e for d in row) / 24)
    for o in (0, 1):
        g = [sum(2 * e[i][o] * x[3 * i + k] for i in range(12)) / 24 for k in range(3)]
        w[o], b[o] = [a - 0.1 * d for a, d in zip(w[o], g)], b[o] - 0.1 * sum(2 * r[o] for r in e) / 24
for n in (1, 2, 3):
    got = [s["loss"] for s in map(json.loads, open(f"log{n}")) if s["event"] == "step"]
    print(n, len(got), max(abs(a / b - 1) for a, b in zip(got, losses)) < 1e-6, got[-1] < got[0] / 9)
==== out
1 12 True True
2 12 True True
3 12 True True
