#!/usr/bin/env python3
"""Random models under random sharding policies: every plan passes the checker, and at equal ranks
the losses and norms of three steps have the same bits whatever the units, strategy, prefetch,
limits and recomputation.

    random_policies.py FSDPC FSDP_RUN FIRST_SEED MODELS

A model is a chain of layers, nested and shared blocks, tied, reshaped, frozen and f32
parameters, in an order of fields that has nothing to do with the order of use. The first policy of
each model is one unit.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

LAYERS = """module L {
  w : param[4, 4] = normal(0.5)%s
  b : param[4] = zeros%s
  forward(x) = gelu(linear(x, w, b), approx = tanh)
}
module N { w : param[4] = ones%s; forward(x) = layer_norm(x, w) }
module O {
  a, c : L
  n : N
  own : param[4, 4] = normal(0.5)%s
  forward(x) = x + c(linear(n(a(x)), own))
}
module Deep { o : O[2]; l : L; forward(x) = l(o[1](l(o[0](x)))) }
module V { w : param[2, 8] = normal(0.5); forward(x) = x + linear(x, w as [4, 4]) }
module E { w : param[4, 4] = normal(0.5)%s; forward(ids) = gather(w, ids) }
"""
TRAIN = """data  { train = text("t.txt"); length = 3 }
train {
  loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3
  optimizer = adamw(lr = 0.05); accumulate = %d; precision = %s
}
"""


def random_model(r):
    """Text of the layers and the root, and the classes and fields that it has."""
    marks = ["", "", "", " @frozen", " @f32"]
    classes = [r.choice(["L", "O", "O", "Deep", "N", "V"]) for _ in range(r.randint(1, 5))]
    fields = [f"  m{i} : {c}" for i, c in enumerate(classes)]
    calls = [f"m{i}" for i in range(len(classes))]
    for _ in range(r.randint(0, 2)):
        calls.insert(r.randrange(len(calls) + 1), r.choice(calls))
    x = "e(ids)"
    for call in calls:
        x = f"{call}({x})"
    head, tie = r.choice(["linear(%s, e.w)", "linear(%s, h)", "last(%s)"]), ""
    if "last" in head:
        fields.append("  last : Linear(4, 4)")
        tie = r.choice(["", "  tie last.weight = e.w\n"])
    elif "h)" in head:
        fields.append("  h : param[3, 4] = normal(0.5)")
    fields.append("  e : E")
    r.shuffle(fields)
    layers = LAYERS % (*r.choices(marks, k=4), r.choice(["", " @frozen"]))
    forward = f"{tie}  forward(ids: [B, S]) = {head % x}\n"
    root = "module Net {\n" + "\n".join(fields) + "\n" + forward + "}\n"
    inside = {"Deep": ["Deep", "O", "L", "N"], "O": ["O", "L", "N"]}
    known = sorted({k for c in classes for k in inside.get(c, [c])})
    return layers + root + "model = Net\n", known, len(classes)


def random_units(r, known, n):
    kind = r.choice(["root", "class", "classes", "size", "lists"])
    if kind == "class":
        return r.choice(known)
    if kind == "classes":
        return "[" + ", ".join(r.sample(known, r.randint(1, len(known)))) + "]"
    if kind == "size":
        return "size(%d)" % r.choice([0, 4, 20, 44, 60])
    if kind == "root":
        return kind
    lists = [[] for _ in range(r.randint(1, n))]
    for i in r.sample(range(n), n):
        r.choice(lists).append(f'"m{i}"')
    return "[" + ", ".join("[" + ", ".join(x) + "]" for x in lists if x) + "]"


def random_policy(r, known, n):
    ahead = [r.randint(0, 3), r.randint(0, 3)]
    policy = ["unit = " + random_units(r, known, n)]
    policy.append("prefetch = (forward = %d, backward = %d)" % tuple(ahead))
    policy.append("inflight = %d" % (max(ahead) + 1 + r.randint(0, 2)))
    strategy = r.choice(["full", "full", "full", "grads", "none"])
    policy.append("strategy = " + strategy)
    if strategy == "full":
        policy.append(r.choice(["reshard = true", "reshard = false", "reshard_root = true"]))
    if ahead[1] and r.random() < 0.3:
        policy.append("prefetch_at = post")
    if r.random() < 0.5:
        policy.append("recompute = " + r.choice(known + ["Net"]))
    return "; ".join(policy)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")


def numbers(fsdpc, fsdp_run, text, ranks):
    with open("net.fsd", "w", encoding="utf-8") as f:
        f.write(text)
    run([fsdpc, "compile", "-q", "-n", str(ranks), "net.fsd", "-o", "plan.bin"])
    run([fsdpc, "check", "plan.bin"])
    run([fsdp_run, "-n", str(ranks), "--threads", "1", "--quiet", "--log", "log", "plan.bin"])
    with open("log", encoding="utf-8") as f:
        steps = [e for e in map(json.loads, f) if e["event"] == "step"]
    if len(steps) != 3:
        raise RuntimeError(f"{len(steps)} steps were logged, not 3")
    return [(e["loss"], e["grad_norm"]) for e in steps]


def main():
    fsdpc, fsdp_run = map(os.path.abspath, sys.argv[1:3])
    first, models = int(sys.argv[3]), int(sys.argv[4])
    os.chdir(tempfile.mkdtemp())
    with open("t.txt", "wb") as f:
        f.write(bytes(random.Random(0).choices(range(3), k=3000)))
    wrong = 0
    for seed in range(first, first + models):
        r = random.Random(seed)
        net, known, n = random_model(r)
        micro = r.choice([1, 1, 2, 4])
        local = "; accumulate = " + r.choice(["sharded", "local"]) if micro > 1 else ""
        net += TRAIN % (micro, r.choice(["f32", "f32", "bf16", "bf16(reduce = bf16)"]))
        ranks, wanted = r.choice([1, 2, 3]), None
        for policy in ["unit = root", random_policy(r, known, n), random_policy(r, known, n)]:
            shard = f"shard {{ {policy}{local} }}\n"
            try:
                got = numbers(fsdpc, fsdp_run, net + shard, ranks)
                wanted = wanted or got
                same = got == wanted
            except RuntimeError as problem:
                same, got = False, problem
            if not same:
                wrong += 1
                print(f"seed {seed}, {ranks} ranks, {shard}{got}, with unit = root {wanted}")
    print(f"{models} models under 3 policies, {wrong} differ")
    return wrong != 0


sys.exit(main())
