# RUN: %python data.py; for run in "1 1" "1 2" "1 8" "2 2" "4 2"; do set -- $run; %fsdpc compile -q -n $1 -s train.accumulate=$2 net.fsd -o p && %fsdp-run -q --threads 1 --log $1-$2 --dump-grads 2=g$1-$2 p; done; for a in 2 4; do %fsdpc compile -q --mesh pp=2 -s train.accumulate=$a net.fsd -o p && %fsdp-run -q --threads 1 --log pp-$a --dump-grads 2=gpp-$a p; done; %python near.py %root 1-2 1-8 2-2 4-2 pp-2 pp-4
# RUN: for a in 1 2; do %fsdpc compile -q -s train.accumulate=$a -s "train.loss=cross_entropy(model(x), t) + 0.1 * sum(model(x)) / sum(stop_gradient(mean(model(x), axis = -1)))" net.fsd -o p 2>&1 && echo $a fits; done | grep -v "^$"
# Each term of a loss, those of aux too, is a mean over the step whatever its micro-batches have to count, one without any
# target of the first term among them, and whatever the ranks and stages are.
# NEEDS: build:device_cpu.so
==== data.py
import random, struct
def npy(name, code, shape, values):
    head = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}{'f' if code == '<f4' else 'i'}", *values))
r = random.Random(1)
B, T, D, C = 24, 5, 4, 7  # three steps, each with other samples
npy("x.npy", "<f4", [B, T, D], [r.gauss(0, 1) for _ in range(B * T * D)])
t = [-100 if b % 8 < 2 else r.choice([-100, r.randrange(C)]) for b in range(B) for _ in range(T)]
npy("t.npy", "<i4", [B, T], t)
npy("u.npy", "<i4", [B, T], [r.choice([-100, r.randrange(C)]) for _ in range(B * T)])
==== net.fsd
module Block {
  fc : Linear(4, 4, bias = true)
  forward(x) {
    y = relu(fc(x))
    aux(mean(y * y), weight = 0.1)
    return x + y
  }
}
module Net {
  first : Linear(4, 4)
  h : Block[2]
  head : Linear(4, 7)
  forward(x: [B, T, D]) {
    x = first(x)
    for block in h { x = block(x) }
    return head(x)
  }
}
model = Net
data { train = npy(x = "x.npy", t = "t.npy", u = "u.npy"); order = sequential }
train {
  loss = (first = cross_entropy(model(x), t), second = 0.5 * cross_entropy(model(x), u),
          heavy = sum(where(t == 1, 3, 0.5) * cross_entropy(model(x), t, each = true)) / sum(where(t == 1, 3, 0.5) * (t != -100)),
          z = 0.1 * mean(logsumexp(model(x)) ** 2))
  batch = 8; steps = 3; optimizer = sgd(lr = 0.1)
}
shard { unit = Block }
==== near.py
import json, sys
sys.path.insert(0, sys.argv[1] + "/tests/parity")
import safetensors
def read(name):
    steps = [json.loads(line) for line in open(name) if "step_ms" in line]
    losses = [v for s in steps for k, v in sorted(s.items()) if k.split(".")[0] == "loss"]
    tensors = safetensors.load("g" + name)
    return losses, [v for n in sorted(tensors) for v in tensors[n].values]
want = read("1-1")
for name in sys.argv[2:]:
    got = read(name)
    far = max(abs(a - b) / max(abs(b), 0.1) for a, b in zip(got[0], want[0]))
    most = max(map(abs, want[1]))
    slope = max(abs(a - b) for a, b in zip(got[1], want[1])) / most
    print(name, len(got[0]) == len(want[0]), len(got[0]), far < 1e-6, slope < 1e-6)
==== out
1-2 True 21 True True
1-8 True 21 True True
2-2 True 21 True True
4-2 True 21 True True
pp-2 True 21 True True
pp-4 True 21 True True
1 fits
error[E0225]: with accumulate = 2 the divisor of a mean must depend on data alone; this one depends on first.weight
 --> -s:1:12
  |
1 | train.loss=cross_entropy(model(x), t) + 0.1 * sum(model(x)) / sum(stop_gradient(mean(model(x), axis = -1)))
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: compute the weights from fields of the batch alone, or write accumulate = 1
==== exit 1
