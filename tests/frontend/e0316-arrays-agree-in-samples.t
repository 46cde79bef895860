# RUN: %python make.py && %fsdpc dump --stage=model m.fsd -s data.train='npy(x = "x.npy", y = "y.npy")'; %fsdpc dump --stage=model m.fsd -s data.train='npy(x = "z.npy", y = "y.npy")'
# Fortran order, unknown dtypes and different numbers of samples are errors.
==== make.py
import struct, sys
def save(name, descr, shape):
    head = str({'descr': descr, 'fortran_order': False, 'shape': shape}).ljust(117) + chr(10)
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
save('x.npy', '<c8', (10, 6))
save('y.npy', '<i4', (10,))
save('z.npy', '<f4', (5, 6))
==== m.fsd
module Net {
  fc : Linear(6, 3)
  forward(x) = fc(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); val = npy(x = "z.npy", y = "y.npy") }
train { loss = cross_entropy(model(x), y); batch = 4; metric = accuracy(model(x), y) }
==== err
error[E0316]: cannot use x.npy: its dtype is '<c8'; little-endian f2 f4 f8, i1 to i8, u1 to u8 and bool are supported
 --> -s:1:20
  |
1 | data.train=npy(x = "x.npy", y = "y.npy")
  |                    ^^^^^^^

error[E0316]: cannot use y.npy: it has 10 samples, z.npy has 5
 --> -s:1:33
  |
1 | data.train=npy(x = "z.npy", y = "y.npy")
  |                                 ^^^^^^^

==== exit 3
