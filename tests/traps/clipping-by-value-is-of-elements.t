# RUN: %python numbers.py; for o in "-n 1" "-n 2" "-n 3" "-n 4" "-n 4 -s shard.strategy=none" "--mesh rep=2,dp=2 -s shard.replicate_below=3"; do %fsdpc compile -q $o -s train.batch=12 net.fsd -o p 2>&- && %fsdp-run -q --threads 1 --log log --save w p && grep -o '"grad_norm":[0-9.]*' log && tail -c 28 w | od -An -w28 -tf4; done | paste - - | tr -s " \t" " " | uniq -c
# clip_value bounds each element of the mean gradient, whoever holds it: [3 0 4 0] and [0 12 0] become at most 3.5; the norm is that before.
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
module B { w : param[3] = zeros; forward(x) = x * w }
module Net { a : A; b : B; forward(x) = concat(a(x), b(x), axis = 1) }
model = Net
data  { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = mse(model(x), y); steps = 1; optimizer = sgd(lr = 1); clip_value = 3.5 }
shard { unit = [A, B] }
==== out
      6 "grad_norm":13.0 3 0 3.5 0 0 3.5 0
