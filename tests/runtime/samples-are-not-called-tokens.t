# RUN: %python -c 'import numpy as n; n.save("x.npy", n.ones((8, 3), "f4")); n.save("y.npy", n.zeros(8, "i4"))' && %fsdpc compile -q net.fsd -o p && %fsdp-run --threads 1 p 2> err | grep -o "samples/s\|tokens/s"; grep -o "samples/s\|tokens/s" err
# Rows of arrays that are not ids are counted as samples.
# NEEDS: build:device_cpu.so python:numpy
==== net.fsd
module Net {
  out : Linear(3, 4)
  forward(x) = out(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy") }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
samples/s
samples/s
