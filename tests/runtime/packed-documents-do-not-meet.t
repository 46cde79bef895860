# RUN: PYTHONPATH=%root/tests/parity %python -B packed.py make && for p in f32 bf16; do for w in packed first second apart; do for f in x y d; do cp $w-$f.npy $f.npy; done && %fsdpc compile -q -s train.precision=$p $(test $w != apart || echo -s train.batch=2) net.fsd -o p && %fsdp-run -q --log $w-$p.log --dump-grads 0=$w-$p p; done; done
# RUN: PYTHONPATH=%root/tests/parity %python -B packed.py compare
# Of two documents packed into a sample one may change, and no bit of the loss and the gradients of the other does. Loss and gradients are those of the documents as samples of their own, within rounding.
# NEEDS: build:device_cpu.so
==== packed.py
import json, random, sys
import safetensors as st
from random_models import save_array

V, N = 29, (70, 58)
def write(run, samples):
    for field, rows in zip("xyd", zip(*samples)):
        save_array(f"{run}-{field}.npy", "i", [len(rows), len(rows[0])], sum(map(list, rows), []))
def make():
    r = random.Random(1)
    tokens = [[r.randrange(V) for _ in range(n + 1)] for n in N]
    ids = [7] * N[0] + [3] * N[1]
    x, y = [t[:-1] for t in tokens], [t[1:] for t in tokens]
    write("packed", [(x[0] + x[1], y[0] + y[1], ids)])
    for run in "first", "second":  # two beginnings of the sample, of which the loss sees the rest
        other = [r.randrange(V) for _ in range(N[0])]
        write(run, [(other + x[1], [-100] * N[0] + y[1], ids)])
    pad = N[0] - N[1]
    write("apart", [(x[0], y[0], [0] * N[0]), (x[1] + [0] * pad, y[1] + [-100] * pad, [0] * N[0])])
def results(run):
    loss = [json.loads(line)["loss"] for line in open(run + ".log") if "step_ms" in line]
    return loss[0], {n: list(t.values) for n, t in st.load(run).items()}
def compare():
    for p, near in ("f32", 1e-6), ("bf16", 1e-2):
        a, b = results("first-" + p), results("second-" + p)
        print(p, "the bits of the second document:", "the same" if a == b else "changed")
        (loss, grads), (want, wants) = results("packed-" + p), results("apart-" + p)
        far = max(abs(g - w) / max(map(abs, wants[n])) for n in grads for g, w in zip(grads[n], wants[n]))
        print(p, "packed as apart:", abs(loss - want) < near * want, far < 4 * near or far)
make() if sys.argv[1] == "make" else compare()
==== net.fsd
config { D = 32; H = 4; KV = 2; h = 8; V = 29 }
module Block {
  n : RMSNorm(D)
  q : Linear(D, D, init = normal(0.3))
  k, v : Linear(D, KV * h, init = normal(0.3))
  o : Linear(D, D)
  forward(x: [B, T, D], ids) {
    y = n(x)
    a = attention(rope(q(y) as [B, T, H, h]), rope(k(y) as [B, T, KV, h]), v(y) as [B, T, KV, h],
                  causal = true, documents = ids)
    return x + o(a as [B, T, D])
  }
}
module Net {
  emb : Embedding(V, D, init = normal(1.0))
  h : Block[2]
  head : Linear(D, V)
  forward(x: [B, T], ids) { y = emb(x); for b in h { y = b(y, ids) }
    return head(y) }
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy", d = "d.npy"); order = sequential }
train { loss = cross_entropy(model(x, d), y); batch = 1; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
f32 the bits of the second document: the same
f32 packed as apart: True True
bf16 the bits of the second document: the same
bf16 packed as apart: True True
