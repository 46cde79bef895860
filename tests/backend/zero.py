#!/usr/bin/env python3
"""Compares what a plan keeps and sends with the formulas of ZeRO, for 7.5 billion parameters on 64
ranks.

    zero.py FSDPC memory|traffic

memory: bytes that a rank keeps over a step, in GB: master weights and Adam's moments in f32, the
sums of gradients in bf16 between two micro-batches (states of the plan), and the weights in bf16,
whole if a unit is gathered once for forward and backward, otherwise a shard. (Strategy full keeps
no such shard here: it is cast for each gather.)

traffic: bytes that a rank sends of parameters and gradients, as multiples of the model in bf16.
"""
import json
import subprocess
import sys
from fractions import Fraction

LAYERS, WIDTH, RANKS = 75, 10000, 64
P = LAYERS * WIDTH * WIDTH
MODEL = f"""module Net {{
  fc : Linear({WIDTH}, {WIDTH})[{LAYERS}]
  forward(x) {{
    for layer in fc {{ x = relu(layer(x)) }}
    return x
  }}
}}
model = Net
data  {{ train = synthetic(x = [{WIDTH}], y = [{WIDTH}], samples = 1024) }}
train {{ loss = mse(model(x), y); batch = 128; steps = 1; optimizer = adamw()
        precision = bf16(master = f32, reduce = bf16) }}
shard {{ mesh = (dp = {RANKS}); unit = Linear }}
"""


def dump(fsdpc, *arguments):
    command = [fsdpc, "dump", *arguments, "zero.fsd"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def memory(fsdpc, strategy):
    options = ["-s", "shard.strategy=" + strategy, "-s", "train.accumulate=2"]
    kept = 0
    for line in dump(fsdpc, "--raw", *options).splitlines():
        word = line.split()
        if word[0] == "state" and word[3] in ("param", "moment1", "moment2", "gradient"):
            dtype, elements = word[4].rstrip("]").split("[")
            kept += {"f32": 4, "bf16": 2}[dtype] * int(elements)
    gathers = [c[2] for c in json.loads(dump(fsdpc, "--format=json", *options))["collectives"]
               if c[1] == "all_gather" and not c[0].startswith("eval")]
    again = gathers and max(map(gathers.count, gathers)) == 4
    return (kept + 2 * P // (RANKS if again else 1)) / 1e9


def traffic(fsdpc, *options):
    sent = Fraction(0)
    for c in json.loads(dump(fsdpc, "--format=json", *options))["collectives"]:
        if len(c) > 6 or c[0].startswith("eval") or c[2] is None:
            continue
        ranks = c[5]["count"] if isinstance(c[5], dict) else len(c[5])
        twice = 2 if c[1] == "all_reduce" else 1
        sent += Fraction(twice * c[3] * (ranks - 1), ranks)
    return sent / P


def main():
    fsdpc = sys.argv[1]
    with open("zero.fsd", "w", encoding="utf-8") as f:
        f.write(MODEL)
    if sys.argv[2] == "memory":
        for strategy in ["none", "states", "grads", "full"]:
            print(f"{strategy}: {memory(fsdpc, strategy)} GB")
        return
    part, first = Fraction(RANKS - 1, RANKS), Fraction(1, LAYERS)
    for name, options, wanted in [
            ("none", ["-s", "shard.strategy=none"], 2 * part),
            ("grads", ["-s", "shard.strategy=grads"], 2 * part),
            ("states", ["-s", "shard.strategy=states"], 2 * part),
            ("full, whose first unit is not gathered for backward", [], (3 - first) * part),
            ("full, 2 micro-batches", ["-s", "train.accumulate=2"], 2 * (3 - first) * part),
            ("full, 2 micro-batches added unsharded",
             ["-s", "train.accumulate=2", "-s", "shard.accumulate=local"],
             (2 * (2 - first) + 1) * part),
            ("full, resharded in groups of 8", ["-s", "shard.reshard=8"],
             2 * part + (1 - first) * Fraction(7, 8)),
            ("8 replicas of 8 shards", ["--mesh", "rep=8,dp=8"],
             (3 - first) * Fraction(7, 8) + 2 * Fraction(1, 8) * Fraction(7, 8)),
            ("the same, 2 micro-batches, replicas at the last",
             ["--mesh", "rep=8,dp=8", "-s", "train.accumulate=2", "-s", "shard.all_reduce=last"],
             2 * (3 - first) * Fraction(7, 8) + 2 * Fraction(1, 8) * Fraction(7, 8))]:
        got = traffic(fsdpc, *options)
        print(f"{name}: {float(got):.6f} of the model" + ("" if got == wanted else
              f", wanted {float(wanted):.6f}"))


main()
