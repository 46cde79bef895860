# RUN: seq 300 > t.txt; for n in 1 2 3 4; do %fsdpc compile -q -n $n net.fsd -o p && %fsdp-run -q --threads 1 --steps 0 --save w$n p; done; for n in 2 3 4; do cmp w1 w$n; done; %python -c 'import struct; b = open("w1", "rb").read(); n = 8 + struct.unpack("<Q", b[:8])[0]; x = struct.unpack("<512f", b[n:n + 2048]); print(len(set(x)), "of 512 numbers differ")'
# Random values that are alike on all ranks, or depend on their number: here they follow from name and index alone.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { e : Embedding(128, 4); o : Linear(4, 128); forward(x) = o(e(x)) }
model = Net
data  { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 3; optimizer = sgd(lr = 0.1) }
==== out
512 of 512 numbers differ
