# RUN: python3 make.py && %fsdpc dump --stage=model m.fsd 2>&1 | grep -E -A1 '^warning|^error'; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E -A1 '^warning|^error'; %fsdpc dump --stage=model m.fsd -s 'train.optimizer=sgd(momentum = 2)' 2>&1 | grep -E -A1 '^error'; true
# What runs but is rarely meant is a warning; a momentum that grows without end is an error.
==== make.py
import struct
for name, kind, shape, size in (("x", "<f4", "(6, 4)", 96), ("y", "<i4", "(6,)", 24)):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)).encode().ljust(117) + b"\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + head + bytes(size))
==== m.fsd
module Net {
  w : Embedding(4, 4)
  forward(x) = linear(w(x), w.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), inputs); optimizer = sgd(lr = 0) }
==== n.fsd
module Net {
  w : Linear(4, 4)
  forward(x) = w(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); length = 8 }
train { loss = cross_entropy(model(x), y); batch = 8 }
==== out
warning[W0306]: the targets are the model's own input, so it only learns to copy
 --> m.fsd:7:16
--
warning[W0305]: lr = 0: the weights never change
 --> m.fsd:7:66
warning[W0304]: a batch of 8 from only 6 samples: some repeat within a step
 --> n.fsd:6:16
--
warning[W0302]: data.train = npy: length has no effect
 --> n.fsd:6:56
error[E0311]: `momentum` of `sgd` must be below 1, not 2
 --> -s:1:32
