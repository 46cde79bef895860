# RUN: cp %root/models/gpt2.fsd .; run() { %fsdpc compile -q $1.fsd --mesh $2 -o p "${@:3}" 2> /dev/null && %fsdp-run -q --threads 1 --log $1.$2.log --save $1.$2 --checkpoint $1.$2.ck --checkpoint-every 2 p; }; for m in dp=1 tp=2 tp=3 tp=4 dp=2,tp=2; do run net $m; run gpt2 $m -s L=2 -s D=24 -s H=12 -s vocab=61 -s seq=16 -s data.length=16 -s 'data.train=synthetic_tokens(vocab)' -s 'data.val=synthetic_tokens(vocab)' -s train.batch=4 -s train.steps=4 -s train.schedule=constant -s train.precision=f32 -s 'train.optimizer=sgd(lr = 0.1)' -s train.eval_every=2 -s train.eval_steps=2; done; for p in net gpt2; do for m in tp=2 tp=3 tp=4 dp=2,tp=2; do %python compare.py $p.dp=1 $p.$m; done; done
# RUN: for m in dp=1 tp=3 tp=4; do %fsdpc compile -q net.fsd --mesh $m -o p 2> /dev/null && %fsdp-run -q --threads 1 --steps 0 --load net.tp=2.ck/step-00000006 --save again p && cmp again net.tp=2 && echo $m reads; done
# RUN: %fsdpc compile net.fsd --mesh tp=4 -o p 2>&1 | grep -o 'ranks share out.*'
# Ranks along tp share out a vocabulary of 5 rows over 4 ranks, one of which has padding only, and one of 61 rows: losses, with
# a z-loss and ignored targets, metrics and trained weights are those of one rank. Files have no padding, whoever wrote them.
# NEEDS: build:device_cpu.so
==== net.fsd
config { D = 3 }
module Net {
  emb : Embedding(5, D)
  out : Linear(D, 5, bias = true)
  forward(x) = out(emb(x))
}
model = Net
data { train = synthetic_tokens(5); val = synthetic_tokens(5); length = 7 }
train { loss = cross_entropy(model(inputs), targets, ignore = 3, z = 0.1); batch = 8; steps = 6; optimizer = adamw(lr = 0.01, weight_decay = 0.1); clip = 1.0; eval_every = 2; eval_steps = 2
        metric = accuracy(model(inputs), targets) }
==== compare.py
import json, struct, sys
def values(name):
    data = open(name, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    head = {k: v for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}
    at = lambda v: data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]]
    return {k: struct.unpack(f"<{len(at(v)) // 4}f", at(v)) for k, v in head.items()}, {k: v["shape"] for k, v in head.items()}
a, b = ([x for x in map(json.loads, open(name + ".log")) if "loss" in x] for name in sys.argv[1:])
n = 0
for x, y in zip(a, b, strict=True):
    for key in {"loss", "grad_norm", "accuracy"} & x.keys():
        assert abs(x[key] - y[key]) <= 1e-6 * x[key], (x, y)
        n += 1
(w, shape), (v, other) = map(values, sys.argv[1:])
assert shape == other, (shape, other)
for k in w:
    largest = max(map(abs, w[k]))
    assert all(abs(p - q) <= 1e-4 * largest for p, q in zip(w[k], v[k], strict=True)), k
print(n >= 8 and "alike")
==== out
alike
alike
alike
alike
alike
alike
alike
alike
dp=1 reads
tp=3 reads
tp=4 reads
ranks share out 35 parameters, each holds 0 whole; 5 of emb.weight (3 rows of padding), 5 of out.weight (3 rows of padding), 5 of out.bias (3 rows of padding)
