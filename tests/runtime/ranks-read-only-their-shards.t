# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_mpi.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so
# RUN: seq 3000 > t.txt; for m in toy parts; do %fsdpc compile -q $m.fsd -o $m -n 4 && %fsdp-run -q --steps 0 --threads 1 --save $m.w $m; done
# RUN: for m in toy parts; do python3 forget.py $m.w && TARDY="map $m.w $(($(wc -c < $m.w) / 4))" %t/bin/fsdp-run -q --transport mpi --threads 1 --steps 1 --load $m.w $m 2> said; python3 most.py < said; done
# Each of four processes has its own fourth of a weights file in memory, and at most a tenth more, also where one tensor stacks the matrices of all layers and another one has two parameters.
# NEEDS: build:device_cpu.so build:transport_mpi.so
# TIME: 60
==== toy.fsd
module Toy {
  emb : Embedding(128, 1024)
  h : Linear(1024, 1024)[12]
  out : Linear(1024, 128)
  forward(x) {
    y = emb(x)
    for l in h { y = relu(l(y)) }
    return out(y)
  }
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 3; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== parts.fsd
use "toy.fsd"
names hf { "h.*.weight" = "stacked"[*]; "emb.weight" = "both"[: 128]; "out.weight" = "both"[128 :] }
==== forget.py
import os, sys
f = os.open(sys.argv[1], os.O_RDONLY)
os.fsync(f)
os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)  # its pages come from the disk, as asked for
==== most.py
import sys
said = {int(line.split()[1][:-1]): float(line.split()[2]) for line in sys.stdin}
print(sorted(said), "too much" if max(said.values()) > 1.1 else "at most 1.1", min(said.values()) > 0.9)
==== out
[0, 1, 2, 3] at most 1.1 True
[0, 1, 2, 3] at most 1.1 True
