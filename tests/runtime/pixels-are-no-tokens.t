# RUN: %python -c 'import numpy as n; n.save("x.npy", n.ones((8, 3, 5), "u1")); n.save("y.npy", n.zeros(8, "i4"))' && %fsdpc compile -q net.fsd -o p && %fsdp-run --threads 1 --log log p 2> err | grep -o "samples/s\|tokens/s"; grep -o "samples/s\|tokens/s" err; grep -o '"tokens":[0-9]*' log
# Integers that no op takes as ids, such as pixels, are not counted as tokens.
# NEEDS: build:device_cpu.so python:numpy
==== net.fsd
module Net {
  out : Linear(15, 4)
  forward(x) = out((x as [4, 15]) * 0.5)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy") }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
samples/s
samples/s
"tokens":4
"tokens":4
