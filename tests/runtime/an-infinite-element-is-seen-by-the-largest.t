# RUN: %python numbers.py; for p in 2 inf; do for o in "-n 1" "-n 2" "-n 4 -s shard.layout=param" "-n 4 -s shard.strategy=none"; do %fsdpc compile -q $o -s train.clip_norm=$p net.fsd -o p 2>&- && %fsdp-run -q --threads 2 --log log --save w p && grep -o '"grad_norm":[a-z0-9.]*\|"skipped":true' log && tail -c 32 w | od -An -w32 -tf4; done; done | paste -d " " - - - | tr -s " \t" " " | uniq -c
# The norm of the largest element loses no element that is not a number, whichever rank has it: the
# step is skipped and no weight changes.
# NEEDS: build:device_cpu.so
==== numbers.py
import struct
def npy(name, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 8), }"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<32f", *(values * 4)))
npy("x.npy", [0, 1, 2, 3, 4, 5, 6, 7])
npy("y.npy", [1, 1, 1, 1, 1, 1, 1, 1])
==== net.fsd
module Net { w : param[8] = ones; forward(x) = sqrt(x * w) }
model = Net
data  { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = mse(model(x), y); batch = 4; steps = 1; optimizer = sgd(lr = 1); clip = 1; on_nan = skip }
==== out
      8 "grad_norm":null "skipped":true 1 1 1 1 1 1 1 1
