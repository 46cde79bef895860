# RUN: seq 300 > t.txt; for n in 2 5; do %fsdpc compile -q net.fsd -o p -n $n && %fsdp-run -q --threads 1 --log log p && grep -c '"event":"step"' log; done
# Ranks with more batches than others hang; batches follow from the step here, so all ranks end after the same one.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { e : Embedding(128, 4); o : Linear(4, 128); forward(x) = o(e(x)) }
model = Net
data  { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 50; epochs = 1; optimizer = sgd(lr = 0.1) }
==== out
5
5
