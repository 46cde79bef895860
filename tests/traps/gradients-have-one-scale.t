# RUN: r() { n=$1; shift; %python numbers.py $n; for s in full grads states none; do %fsdpc compile -q "$@" -s train.batch=$n -s shard.strategy=$s net.fsd -o p && %fsdp-run -q --threads 1 --save w p && tail -c 4 w | od -An -tf4; done | uniq -c; }; for n in 1 2 3 4 5 6 7 8; do r $n -n $n; done; for m in rep=2,dp=2 rep=4,dp=1 dp=1,rep=4; do r 4 --mesh $m; done; for a in local sharded; do r 4 -n 2 -s train.accumulate=2 -s shard.accumulate=$a 2>&-; done
# Ranks with gradients 1 .. N give their mean, (N + 1) / 2, in every strategy on every mesh, and so do micro-batches.
# NEEDS: build:device_cpu.so sanitizer:none
==== numbers.py
import struct
import sys
def npy(name, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1), }" % len(values)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%df" % len(values), *values))
n = int(sys.argv[1])
npy("x.npy", [k / 2 for k in range(1, n + 1)])
npy("y.npy", [-1] * n)
==== net.fsd
module Net { w : param[1, 1] = zeros; forward(x) = linear(x, w) }
model = Net
data  { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = mse(model(x), y); steps = 1; optimizer = sgd(lr = 1) }
==== out
      4               -1
      4             -1.5
      4               -2
      4             -2.5
      4               -3
      4             -3.5
      4               -4
      4             -4.5
      4             -2.5
      4             -2.5
      4             -2.5
      4             -2.5
      4             -2.5
