"""Compares the peak with the bytes live at the worst moment, which no arrangement can beat:

    peak.py fsdpc gpt2.fsd      GPT-2 over batches, ranks, strategies, dtypes and units
    peak.py fsdpc               1000 layers whose units are far from each other, in two patterns

Prints for each row how many cases are within its limit, and every case that is not. The bound is
that of issue order: it does not include what a gather or reduction keeps until compute waits for
it."""
import json
import os
import subprocess
import sys

MODEL = """module Net {{
  e : Embedding(257, 64)
  fc : Linear(64, 64, bias = true)[{layers}]
  head : Linear(64, 257)
  forward(ids) {{
    x = e(ids)
    for layer in fc {{ x = relu(layer(x)) }}
    return head(x)
  }}
}}
model = Net
data {{ train = text("t"); length = 16 }}
train {{ loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = adamw }}
shard {{ mesh = (dp = 4); unit = [{unit}] }}
"""


def excess(*arguments):
    command = [sys.argv[1], "dump", "--format=json", *arguments]
    peak = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    peak = peak["predicted_peak_bytes"]
    return peak["arena"] / peak["lower_bound"]


def report(row, limit, cases):
    good = 0
    for arguments in cases:
        e = excess(*arguments)
        good += e <= limit
        if e > limit:
            print(*arguments, f"{e:.4f}")
    print(f"{row}: {good} cases within {limit}")


def set_of(*settings):
    return [word for s in settings for word in ("-s", s)]


def gpt2(model):
    def cases(samples, tokens, *settings):
        for ranks in (1, 2, 4, 8):
            for precision in ("f32", "bf16(master = f32)"):
                yield [model, "-n", str(ranks)] + set_of(
                    f"train.batch={samples * ranks}", f"seq={tokens}",
                    f"train.precision={precision}", *settings)

    for strategy, limit in (("full", 1.001), ("grads", 1.002), ("none", 1.001)):
        report(strategy, limit, cases(8, 1024, f"shard.strategy={strategy}"))
        report(strategy + ", short", 1.02, cases(4, 64, f"shard.strategy={strategy}"))
    linear = ("shard.unit=Linear", "shard.prefetch=3", "shard.inflight=4")
    report("Linear, prefetch 3", 1.002, cases(8, 1024, *linear))
    report("Linear, prefetch 3, short", 1.02, cases(4, 64, *linear))


def far_units(layers):
    mirrored = [(k, layers - 1 - k) for k in range(layers // 2)]
    strided = [range(k, layers, layers // 4) for k in range(layers // 4)]
    for row, units in (("mirrored", mirrored), ("strided", strided)):
        lists = ["[%s]" % ", ".join(f'"fc.{k}"' for k in unit) for unit in units]
        with open(row + ".fsd", "w", encoding="utf-8") as f:
            f.write(MODEL.format(layers=layers, unit=", ".join(lists)))
        report(row, 1.005, [[row + ".fsd"], [row + ".fsd", *set_of("train.batch=32")]])
        os.remove(row + ".fsd")


if len(sys.argv) > 2:
    gpt2(sys.argv[2])
else:
    far_units(1000)
