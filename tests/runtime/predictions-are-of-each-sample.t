# RUN: python3 data.py && for mesh in dp=1 dp=4 dp=2,tp=2 pp=2,dp=2; do %fsdpc compile -q net.fsd --mesh $mesh -o p 2>&- || exit; [ -e w ] || %fsdp-run -q --threads 1 --save w p; %fsdp-run -q --threads 1 --load w --predict out.npy p; python3 compare.py %root/tests/runtime out.npy; done; ls out*
# RUN: %fsdpc compile -q net.fsd -o p -s 'train.predict=model.chosen(x)' 2>&- && %fsdp-run -q --load w --predict chosen.npy p && python3 compare.py %root/tests/runtime chosen.npy; %fsdpc compile -q net.fsd -o p -s train.precision=bf16 2>&- && %fsdp-run --log log -q --load w --predict out.npy p && python3 compare.py %root/tests/runtime out.npy 2e-2; grep -o '"event":"[a-z]*"' log
# RUN: for mesh in dp=1 cp=2,tp=2; do %fsdpc compile -q text.fsd --mesh $mesh -o p || exit; [ -e v ] || %fsdp-run -q --threads 1 --save v p; %fsdp-run -q --threads 1 --load v --predict $mesh.npy p; head -c 256 $mesh.npy | tail -c +11 | tr -s ' '; done; python3 same.py dp=1.npy cp=2,tp=2.npy
# --predict writes train.predict of each sample of data.val in the file's order, as f4 or i4, whatever the
# batch and the ranks are. 21 samples are no whole number of batches.
# NEEDS: build:device_cpu.so
# TIME: 60
==== net.fsd
module Net {
  a : Linear(6, 8)
  b : Linear(8, 4)
  forward(x) = b(relu(a(x)))
  chosen(x) {
    y, indices = topk(forward(x), 2)
    return indices
  }
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); val = npy(x = "vx.npy", y = "vy.npy") }
train { loss = cross_entropy(model(x), y); predict = softmax(model(x)); batch = 8; steps = 4; optimizer = adamw(lr = 0.1) }
shard { unit = Linear }
==== text.fsd
module Toy {
  emb : Embedding(256, 8)
  out : Linear(8, 256)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("x.npy"); val = text("vx.npy"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); predict = model(inputs)[:, 1:3]; batch = 4; steps = 3; optimizer = adamw(lr = 0.1) }
==== data.py
import random, struct
random.seed(1)
def npy(name, shape, kind, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, tuple(shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = struct.pack("<%d%s" % (len(values), kind[1]), *values)
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
for p, n in ("", 24), ("v", 21):
    npy(p + "x.npy", (n, 6), "<f4", [random.gauss(0, 1) for _ in range(6 * n)])
    npy(p + "y.npy", (n,), "<i4", [random.randrange(4) for _ in range(n)])
==== compare.py
import ast, math, struct, sys
sys.path.insert(0, sys.argv[1])
import weights
def read(name):
    raw = open(name, "rb").read()
    n = struct.unpack("<H", raw[8:10])[0]
    head = ast.literal_eval(raw[10:10 + n].decode())
    return head, struct.unpack("<%d%s" % (math.prod(head["shape"]), head["descr"][1]), raw[10 + n:])
head, got = read(sys.argv[2])
_, x = read("vx.npy")
w = weights.read("w")
floats = lambda t: struct.unpack(f"<{len(t[2]) // 4}f", t[2])
a, b = floats(w["a.weight"]), floats(w["b.weight"])
worst, right = 0, True
for i in range(21):
    h = [max(0, sum(p * q for p, q in zip(a[6 * j:6 * j + 6], x[6 * i:6 * i + 6]))) for j in range(8)]
    y = [sum(p * q for p, q in zip(b[8 * j:8 * j + 8], h)) for j in range(4)]
    if head["descr"] == "<i4":
        right &= list(got[2 * i:2 * i + 2]) == sorted(range(4), key=lambda j: -y[j])[:2]
        continue
    e = [math.exp(v - max(y)) for v in y]
    worst = max(worst, *(abs(v / sum(e) - g) for v, g in zip(e, got[4 * i:4 * i + 4])))
print(head["descr"], head["shape"], right and worst < float(sys.argv[3] if sys.argv[3:] else 1e-6))
==== same.py
import struct, sys
a, b = ([v for v, in struct.iter_unpack("<f", open(f, "rb").read()[256:])] for f in sys.argv[1:])
print(len(a) == len(b) > 0, max(abs(p - q) for p, q in zip(a, b)) < 1e-6)
==== out
<f4 (21, 4) True
<f4 (21, 4) True
<f4 (21, 4) True
<f4 (21, 4) True
out.npy
<i4 (21, 2) True
<f4 (21, 4) True
"event":"start"
"event":"end"
{'descr': '<f4', 'fortran_order': False, 'shape': (157, 2, 256), } 
{'descr': '<f4', 'fortran_order': False, 'shape': (157, 2, 256), } 
True True
