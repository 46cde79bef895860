# RUN: %python make.py; for p in f32 bf16; do %fsdpc compile -q -s train.precision=$p net.fsd -o p.bin && %fsdp-run -q --threads 1 --steps 0 --save w p.bin && %fsdp-run -q --threads 1 --load w --predict $p.npy p.bin && %python see.py $p; done
# A remainder lies between 0 and its divisor, however large the quotient is, in bf16 too.
# NEEDS: build:device_cpu.so
==== npy.py
import struct
def save(name, rows):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)},{len(rows[0])})}}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    flat = [x for row in rows for x in row]
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(flat)}f", *flat))
def load(name):
    data = open(name, "rb").read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return struct.unpack(f"<{len(data) // 4}f", data)
==== make.py
from npy import save
save("x.npy", [[250, 254, 100, 1000, -33, 5e9]])
==== net.fsd
module Net {
  m : param[1] = ones
  forward(x: [B, 6]) = concat((x * m) % 0.7, x % -3) * m
}
model = Net
data { train = npy(x = "x.npy"); val = npy(x = "x.npy"); order = sequential }
train { loss = mean(model(x)); batch = 1; steps = 1; predict = model(x); optimizer = sgd(lr = 0) }
==== see.py
import sys
from npy import load
out = load(sys.argv[1] + ".npy")
for row in range(1):
    print(*(f"{x:.3g}" for x in out[row * 12:][:12]))
==== out
0.1 0.6 0.6 0.4 0.6 0.349 -2 -1 -2 -2 -0 -1
0.1 0.602 0.602 0.4 0.602 0.243 -2 -1 -2 -2 -0 -1
