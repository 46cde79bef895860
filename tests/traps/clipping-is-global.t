# RUN: %python numbers.py; for c in clip=1 "clip=1 -s train.clip_norm=1" "clip=1 -s train.clip_norm=3" "clip=1 -s train.clip_norm=inf" clip_value=3.5; do for o in "-n 1" "-n 2" "-n 3" "-n 4" "-n 4 -s shard.layout=param" "-n 4 -s shard.strategy=none" "-n 4 -s shard.strategy=grads" "-n 2 -s shard.strategy=states" "--mesh rep=2,dp=2 -s shard.replicate_below=3" "-n 2 -s train.precision=f16 -s train.loss_scale=128"; do %fsdpc compile -q $o -s train.batch=12 -s train.$c net.fsd -o p 2>&- && %fsdp-run -q --threads 2 --log log --save w p && grep -o '"grad_norm":[0-9.]*' log && tail -c 28 w | od -An -w28 -tf4; done; done | paste - - | tr -s " \t" " " | uniq -c
# The norm that clips is that of all shards: gradients [3 0 4 0] and [0 12 0] have the 2-norm 13, the 1-norm 19, the 3-norm 12.20706 and the largest element 12, and clip = 1 divides by it; clip_value bounds each element, whoever holds it.
# TIME: 60
# NEEDS: build:device_cpu.so sanitizer:none
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
train { loss = mse(model(x), y); steps = 1; optimizer = sgd(lr = 1) }
shard { unit = [A, B] }
==== out
     10 "grad_norm":13.0 0.23076922 0 0.3076923 0 0 0.92307687 0
     10 "grad_norm":19.0 0.15789472 0 0.21052629 0 0 0.63157886 0
     10 "grad_norm":12.207054953820636 0.2457595 0 0.32767934 0 0 0.983038 0
     10 "grad_norm":12.0 0.24999999 0 0.3333333 0 0 0.99999994 0
     10 "grad_norm":13.0 3 0 3.5 0 0 3.5 0
