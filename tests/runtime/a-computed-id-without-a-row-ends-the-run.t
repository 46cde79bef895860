# RUN: %fsdpc compile -q -n 2 net.fsd -o p && %fsdp-run -q --threads 1 --log log --save w.safetensors p 2> err; echo exit $?; sed 's/rank [01]/rank N/; s/sample [0-9]*/sample N/' err; grep -c '"event":"step"' log; ls w.safetensors 2> /dev/null || echo nothing saved
# RUN: %fsdpc compile -q -n 2 -s shift=0 net.fsd -o p && %fsdp-run -q --threads 1 p && echo fits
# RUN: %python data.py && for m in "dp=2 2" "dp=1 4" "pp=2 4" "tp=2 2"; do set -- $m; %fsdpc compile -q --mesh $1 -s train.accumulate=$2 arrays.fsd -o p && %fsdp-run -q --threads 1 p 2>&1 | grep -oE 'id .* position|note: .*'; done; true
# A computed id that a table has no row for ends the run on all ranks, with op, sample, position and value, before the update.
# NEEDS: build:device_cpu.so
==== net.fsd
config { D = 4; V = 11; shift = 4 }
module Net {
  emb : Embedding(V, D)
  pos : Embedding(9, D)
  head : Linear(D, V)
  forward(ids: [B, T]) = head(emb(ids) + pos(iota(T) + shift * (ids >= 0)))
}
model = Net
data { train = synthetic_tokens(vocab = 11); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 3; optimizer = sgd(lr = 0.1) }
==== data.py
import struct
def npy(name, values):
    head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': (12, 6), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<72i", *values))
npy("i.npy", [10 if k == 9 * 6 + 3 else k % 8 for k in range(72)])
npy("t.npy", [k % 7 for k in range(72)])
==== arrays.fsd
use "net.fsd"
module Layer {
  fc : Linear(D, D)
  forward(x) = fc(x)
}
module Two {
  emb : Embedding(V, D)
  pos : Embedding(9, D)
  a, b : Layer
  head : Linear(D, V)
  forward(ids: [B, T]) = head(b(a(emb(ids) + pos(ids + 1 - 1))))
}
model = Two
data { train = npy(inputs = "i.npy", targets = "t.npy"); order = sequential; length = none }
train { batch = 8 }
shard { unit = Layer }
==== out
exit 5
error: rank N: pos net.fsd:6:42: embedding #14: embedding: id 9 at position 5 is out of range: it must be from 0 to 8
note: it is of sample N of data.train, from 0
help: the table has no row for it: give it more rows, correct the data, or clamp the ids
0
nothing saved
fits
id 10 at position
note: it is of sample 9 of data.train, from 0
id 10 at position
note: it is of sample 9 of data.train, from 0
id 10 at position
note: it is of sample 9 of data.train, from 0
id 10 at position
note: it is of sample 9 of data.train, from 0
