# RUN: %python make.py && %fsdpc dump --stage=model m.fsd | grep -E '^(field|state)'
# Fields have the local batch first; floating-point arrays are f32, integers i32.
==== make.py
import struct, sys
def save(name, descr, shape):
    head = str({'descr': descr, 'fortran_order': False, 'shape': shape}).ljust(117) + chr(10)
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
save('x.npy', '<f8', (10, 6))
save('y.npy', '|u1', (10,))
==== m.fsd
module Net {
  fc : Linear(6, 3)
  forward(x) = fc(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); val = npy(x = "x.npy", y = "y.npy") }
train { loss = cross_entropy(model(x), y); batch = 4; metric = accuracy(model(x), y) }
==== out
state 0 step "step" f64[16]
state 1 staging "staging" u8[2, 192]
state 2 metric "loss" i64[24]
state 3 metric "eval.loss" i64[24]
state 4 metric "eval.accuracy" i64[24]
field 0 "x" f32[4, 6] staging 0
field 1 "y" i32[4] staging 128
