# RUN: compile() { %fsdpc compile -q $1.fsd --mesh $2 -o $1.$2 "${@:3}" 2> /dev/null; }; cp %root/models/{gpt2,mlp}.fsd .; for m in dp=1 tp=2 dp=2 dp=2,tp=2; do compile mlp $m -s hidden=16 -s train.steps=4 && compile gpt2 $m -s L=2 -s D=32 -s H=4 -s vocab=64 -s seq=16 -s drop=0.1 -s data.length=16 -s 'data.train=synthetic_tokens(vocab)' -s 'data.val=synthetic_tokens(vocab)' -s train.batch=4 -s train.steps=4 -s train.schedule=constant -s train.precision=f32 -s train.eval_every=2 -s train.eval_steps=2; done
# RUN: for m in dp=1 tp=2 dp=2 dp=2,tp=2; do for p in mlp gpt2; do %fsdp-run -q --threads 1 --log $p.$m.log $p.$m; done; done; for p in mlp gpt2; do %python compare.py $p.dp=1.log $p.tp=2.log && %python compare.py $p.dp=2.log $p.dp=2,tp=2.log; done
# With an axis tp, losses of steps and evaluations differ by at most 1e-6 of them, gradient norms too; dropout draws the same.
# NEEDS: build:device_cpu.so
==== compare.py
import json, sys
a, b = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
n = 0
for x, y in zip(a, b, strict=True):
    assert x["event"] == y["event"]
    for key in {"loss", "grad_norm"} & x.keys():
        assert abs(x[key] - y[key]) <= 1e-6 * x[key], (x, y)
        n += 1
print(n >= 8 and "alike")
==== out
alike
alike
alike
alike
