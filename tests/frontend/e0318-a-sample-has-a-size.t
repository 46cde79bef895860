# RUN: %python make.py && %fsdpc dump --stage=model m.fsd 2>&1 | grep '^error'
# Sizes in a NumPy header whose product does not fit into 64 bits are too large, not zero.
==== make.py
import struct
head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4294967296, 4294967296), }\n"
open("x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
==== m.fsd
module Net {
  fc : Linear(3, 5)
  forward(x) = fc(x)
}
model = Net
data { train = npy(x = "x.npy", y = "x.npy") }
train { loss = cross_entropy(model(x), y) }
==== out
error[E0318]: a micro-batch of field `x` is too large for a rank
==== exit 1
