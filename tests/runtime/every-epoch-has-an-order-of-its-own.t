# RUN: %python make.py && %fsdpc compile -q net.fsd -o p.bin && %fsdp-run --quiet --threads 1 --log log p.bin && %python show.py log
# Shuffled: each epoch has every sample once, and epochs differ in their order.
# NEEDS: build:device_cpu.so
==== make.py
import struct
def save(path, descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)
save("x.npy", "<f4", "(8, 2)", struct.pack("<16f", *(v for k in range(8) for v in (k, 0))))
save("y.npy", "<i4", "(8,)", struct.pack("<8i", *[0] * 8))
==== net.fsd
module Net {
  w : param[2, 2] = normal(1.0)
  forward(x) = linear(x, w)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy") }
train { loss = cross_entropy(model(x), y); batch = 1; epochs = 4; optimizer = sgd(lr = 0.0) }
==== show.py
import json, sys
loss = [e["loss"] for e in map(json.loads, open(sys.argv[1])) if e["event"] == "step"]
epochs = [loss[8 * k:8 * k + 8] for k in range(4)]
print(len(set(loss)), [len(set(e)) for e in epochs], len(set(map(tuple, epochs))))
==== out
8 [8, 8, 8, 8] 4
