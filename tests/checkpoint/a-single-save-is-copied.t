# RUN: seq 300 > t.txt; for s in direct copy; do %fsdpc compile -q -s checkpoint.snapshot=$s -o $s.bin m.fsd && %fsdp-run -q --threads 1 --checkpoint $s --keep 1 $s.bin; done; %fsdpc dump copy.bin | sed -n 's/.* \([0-9]* save\).*\(from a copy of .*\);/\1 \2/p'; cmp {direct,copy}/step-00000002/rank-00000-of-00001.safetensors && echo same
# The copy of the state has room for the first save of a rank, here its only one.
# NEEDS: build:device_cpu.so
==== m.fsd
module M {
  e : Embedding(256, 256)
  forward(x) = e(x)
}
model = M
data  { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
1 save from a copy of 256 KiB in host memory
same
