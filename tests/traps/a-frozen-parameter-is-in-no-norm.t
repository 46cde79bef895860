# RUN: %python numbers.py; for p in 1 2 3 inf; do for n in 1 2 4; do %fsdpc compile -q -n $n -s train.batch=12 -s train.clip_norm=$p net.fsd -o p 2>&- && %fsdp-run -q --threads 1 --log log p && grep -o '"grad_norm":[0-9.]*' log; done; done | uniq -c
# A parameter that training leaves as it is has no part in the norm, whatever its p.
# NEEDS: build:device_cpu.so
==== numbers.py
import struct
def npy(name, values, width):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, %d), }" % width
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%df" % (12 * width), *(values * 12)))
npy("x.npy", [3.5], 1)
npy("y.npy", [3, 0, 4, 0, 0, 12, 0], 7)
==== net.fsd
module A { w : param[4] = zeros; forward(x) = x * w }
module B { w : param[3] = zeros @frozen; forward(x) = x * w }
module Net { a : A; b : B; forward(x) = concat(a(x), b(x), axis = 1) }
model = Net
data  { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = mse(model(x), y); steps = 1; optimizer = sgd(lr = 1); clip = 1 }
shard { unit = [A, B] }
==== out
      3 "grad_norm":7.0
      3 "grad_norm":5.0
      3 "grad_norm":4.4979414452754156
      3 "grad_norm":4.0
