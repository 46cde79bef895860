# RUN: %python data.py; %fsdpc compile -q net.fsd -o p && %fsdp-run -q --threads 1 --save w p; one() { name=$1; shift; %fsdpc compile -q "$@" net.fsd -o p && %fsdpc check p && %fsdp-run -q --threads 1 --eval-only --load w --log $name p; }; three() { one "$@" -s train.batch=8 -s train.eval_steps=3; }; one 1; three batches; three halves -s train.accumulate=2; three rep --mesh rep=2,dp=2; three tp --mesh tp=2; three cp --mesh cp=2; three pp --mesh pp=2 -s train.accumulate=2; three all --mesh pp=2,dp=2 -s train.accumulate=2; %python near.py batches halves rep tp cp pp all
# In an evaluation each term of the loss and of a metric is a mean over all its batches, whatever these have to count, one
# without any target of the first term among them, and whatever the ranks and stages are; the loss is the sum of its terms.
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
B, T, D, C = 24, 6, 4, 7
npy("x.npy", "<f4", [B, T, D], [r.gauss(0, 1) for _ in range(B * T * D)])
npy("w.npy", "<f4", [B, T], [r.choice([0, 0.5, 3]) for _ in range(B * T)])
t = [-100 if b % 8 < 2 or b >= 16 else r.choice([-100, r.randrange(C)]) for b in range(B) for _ in range(T)]
npy("t.npy", "<i4", [B, T], t)
npy("u.npy", "<i4", [B, T], [r.choice([-100, r.randrange(C)]) for _ in range(B * T)])
==== net.fsd
module Block {
  fc : Linear(4, 4, bias = true)
  forward(x) {
    return x + relu(fc(x))
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
data { train = npy(x = "x.npy", t = "t.npy", u = "u.npy", w = "w.npy"); val = npy(x = "x.npy", t = "t.npy", u = "u.npy", w = "w.npy") }
train {
  loss = (first = cross_entropy(model(x), t), second = 0.5 * cross_entropy(model(x), u),
          heavy = sum(where(t == 1, 3, 0.5) * cross_entropy(model(x), t, each = true)) / sum(where(t == 1, 3, 0.5) * (t != -100)),
          z = 0.1 * mean(logsumexp(model(x)) ** 2))
  metric = (one = sum(w * cross_entropy(model(x), u, each = true)) / sum(w),
            two = cross_entropy(model(x), u) + 0.5 * sum(w * w) / sum(w), right = accuracy(model(x), u))
  batch = 24; steps = 3; eval_every = 3; eval_steps = 1; optimizer = sgd(lr = 0.1)
}
shard { unit = Block }
==== near.py
import json, sys
def read(name):
    (e,) = [json.loads(line) for line in open(name) if '"eval"' in line]
    return {k: v for k, v in e.items() if k not in ("event", "step", "time")}
want = read("1")
print(*want)
print(abs(sum(want[k] for k in want if k.startswith("loss.")) / want["loss"] - 1) < 1e-9)
for name in sys.argv[1:]:
    got = read(name)
    print(name, list(got) == list(want), max(abs(got[k] - want[k]) / abs(want[k]) for k in want) < 1e-7)
==== out
loss loss.first loss.second loss.heavy loss.z one two right
True
batches True True
halves True True
rep True True
tp True True
cp True True
pp True True
all True True
