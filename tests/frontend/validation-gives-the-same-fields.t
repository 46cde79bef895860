# RUN: %python make.py && %fsdpc dump --stage=model m.fsd
# A validation source of another shape is an error; the order of fields does not matter.
==== make.py
import struct, sys
def save(name, descr, shape):
    head = str({'descr': descr, 'fortran_order': False, 'shape': shape}).ljust(117) + chr(10)
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
save('x.npy', '<f4', (10, 6))
save('y.npy', '<i4', (10,))
save('z.npy', '<f4', (5, 7))
save('w.npy', '<i4', (5,))
==== m.fsd
module Net {
  fc : Linear(6, 3)
  forward(x) = fc(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); val = npy(y = "w.npy", x = "z.npy") }
train { loss = cross_entropy(model(x), y); batch = 4; metric = accuracy(model(x), y) }
==== err
error[E0318]: data.val gives field `x` as f32[4, 7] per batch, but data.train as f32[4, 6]
 --> m.fsd:6:53
  |
6 | data { train = npy(x = "x.npy", y = "y.npy"); val = npy(y = "w.npy", x = "z.npy") }
  |                                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1
