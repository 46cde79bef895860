"""Trains one model as one stage and as several, under many settings: losses, norms and metrics must
be the same to the bit. Prints what differs, then how many runs there were.

    same_bits.py FSDPC FSDP_RUN
        each strategy meets each pipeline, with two numbers of micro-batches
    same_bits.py FSDPC FSDP_RUN all
        ... with all numbers of micro-batches
    same_bits.py FSDPC FSDP_RUN MODEL   the same of a model whose stages share parameters: each
                                        has a part of their gradients, which are then added up in
                                        another order: prints the largest relative difference
"""
import json
import os
import subprocess
import sys
import tempfile

MODEL = """
config { D = 16; classes = 10 }
module Layer {
  fc : Linear(D, D, bias = true)
  norm : LayerNorm(D)
  gate : Linear(D, 4)
  forward(x: [B, D]) {
    scores = gate(x)
    p, idx = topk(softmax(scores), 2)
    aux(load_balance(scores, idx), weight = 0.02)
    aux(mean(x * x), weight = 0.01)
    return x + dropout(relu(fc(norm(x))), 0.1) * sum(p, axis = -1)
  }
}
module Net {
  first : Linear(D, D, bias = true)
  h : Layer[5]
  last : LayerNorm(D)
  head : Linear(D, classes, bias = true)
  forward(x: [B, D]) {
    x = first(x)
    for layer in h { x = layer(x) }
    return head(last(x))
  }
}
model = Net
data { train = synthetic(x = [D], y = classes); val = synthetic(x = [D], y = classes, seed = 1) }
train {
  loss = cross_entropy(model(x), y); metric = accuracy(model(x), y)
  batch = 16; steps = 3; optimizer = adamw(lr = 0.01); clip = 1; eval_every = 2; eval_steps = 1
}
shard { unit = Layer }
"""

STRATEGIES = [
    ["shard.strategy=full"],
    ["shard.strategy=full", "shard.accumulate=local", "train.clip_norm=1"],
    ["shard.strategy=grads", "shard.hold=true", "shard.layout=param"],
    ["shard.strategy=states", "train.clip_norm=inf"],
    ["shard.strategy=none", "train.precision=bf16"],
    ["shard.strategy=full", "train.precision=bf16", "shard.recompute=Layer"],
    ["shard.strategy=full", "train.optimizer=muon(lr = 0.01)"],
    ["shard.strategy=full", "train.optimizer=adafactor(lr = 0.01)", "shard.bucket=500"],
    ["shard.strategy=full", "shard.gather=f8e4m3"],
    ["shard.strategy=full", "shard.offload=(states = cpu, params = cpu)"],
    ["shard.strategy=full", "train.precision=bf16", "shard.offload=(grads = cpu, buffers = 1)"],
    ["shard.strategy=grads", "shard.offload=(states = cpu, params = cpu, grads = cpu)"],
]
# Axes that a stage has, and settings with which they are tried.
MESHES = [
    ("rep=2,dp=2", ["shard.strategy=full", "shard.all_reduce=last", "train.accumulate=2"]),
    ("dp=2,tp=2", ["shard.strategy=full", "train.accumulate=2"]),
    ("dp=2,tp=2", ["shard.strategy=none", "shard.rows=false", "train.accumulate=2"]),
    ("dp=1", ["shard.strategy=full", "train.accumulate=4"]),
    ("dp=2", ["shard.strategy=full", "train.accumulate=8"]),
    ("dp=4", ["shard.reshard=2", "shard.accumulate=local", "train.accumulate=2"]),
]
# Stages, settings, and the micro-batches that these allow.
PIPELINES = [
    (2, [], (1, 2, 4, 8)),
    (4, [], (1, 2, 4, 8)),
    (3, ["shard.pipeline=gpipe"], (1, 2, 4, 8)),
    (2, ["shard.pipeline=interleaved", "shard.stages=4"], (2, 4, 8)),
]
# Of a loss or norm where stages share parameters; 1.3e-7 is the largest in 56 runs.
BOUND = 2e-7


def events(path):
    keys = ("event", "step", "loss", "grad_norm", "accuracy")
    with open(path) as log:
        rows = [json.loads(line) for line in log]
    return [[row.get(k) for k in keys] for row in rows if row["event"] in ("step", "eval")]


def compile_model(fsdpc, folder, plan, mesh, settings):
    """None, or why not."""
    command = [fsdpc, "compile", "-q", "--mesh", mesh, "-o", plan, folder + "/m.fsd"]
    for setting in settings:
        command += ["-s", setting]
    found = subprocess.run(command, capture_output=True, text=True)
    return "exit code %d: %s" % (found.returncode, found.stderr) if found.returncode else None


def events_of(fsdp_run, plan, log, options=(), environment=()):
    command = [fsdp_run, "-q", "--threads", "1", "--log", log, *options, plan]
    found = subprocess.run(command, capture_output=True, text=True,
                           env=dict(os.environ, **dict(environment)))
    if found.returncode:
        return "exit code %d: %s" % (found.returncode, found.stderr)
    rows = events(log)
    os.remove(log)
    return rows


def difference(one, other):
    """The largest relative difference of a number; infinity: something else differs."""
    if isinstance(one, str) or isinstance(other, str) or len(one) != len(other):
        return float("inf")
    pairs = [pair for a, b in zip(one, other) for pair in zip(a, b)]
    if any(a != b for a, b in pairs if not isinstance(a, float)):
        return float("inf")
    return max(abs(a - b) / abs(a) for a, b in pairs if isinstance(a, float) and a)


def train(fsdpc, fsdp_run, folder, mesh, settings, options=(), environment=()):
    plan = folder + "/p.bin"
    failed = compile_model(fsdpc, folder, plan, mesh, settings)
    return failed or events_of(fsdp_run, plan, folder + "/log", options, environment)


def train_one_stage(*how):
    """What several stages are compared with: it must run."""
    rows = train(*how)
    if isinstance(rows, str):
        sys.exit(rows)
    return rows


def few(number, micros):
    """Pipelines that a strategy, by its number, meets with so many micro-batches: each once."""
    first = {0, 1 + number // 2 % 2}
    if number % 4 == 0:
        first = set(range(len(PIPELINES))) - first
    both = (1, 4) if number % 2 else (2, 4)
    return [k for k in range(len(PIPELINES))
            if micros in both and (k in first) == (micros == both[0])]


def to_try(every, shared):
    """[(axes, settings with the number of micro-batches at last, pipelines)]"""
    found = [(axes, settings, PIPELINES) for axes, settings in MESHES]
    for number, strategy in enumerate(STRATEGIES):
        for micro in (2,) if shared else (1, 2, 4):
            met = (PIPELINES if every else PIPELINES[number % 2::2] if shared else
                   [PIPELINES[k] for k in few(number, micro)])
            if met and (micro > 1 or "shard.hold=true" not in strategy):
                found.append(("dp=2", strategy + ["train.accumulate=%d" % micro], met))
    return found


def main():
    fsdpc, fsdp_run, *shared = sys.argv[1:]
    every = shared == ["all"]
    shared = [] if every else shared
    runs = 0
    largest = 0.0
    model_text = open(shared[0]).read() if shared else MODEL
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/m.fsd", "w") as model:
            model.write(model_text)
        for axes, settings, met in to_try(every, shared):
            micro = int(settings[-1].split("=")[1])
            one = train_one_stage(fsdpc, fsdp_run, folder, axes, settings)
            for stages, pipeline, micros in met:
                if micro not in micros:
                    continue
                options = ("--overlap", "on") if runs % 2 else ("--overlap", "off")
                mesh = "pp=%d,%s" % (stages, axes)
                several = train(fsdpc, fsdp_run, folder, mesh, settings + pipeline, options)
                runs += 1
                apart = difference(one, several)
                largest = max(largest, apart)
                if several != one and not (shared and apart <= BOUND):
                    print("%s %s %s:\n  one stage %s\n  several   %s"
                          % (mesh, settings, pipeline, one, several))
    print("%d runs" % runs)
    if shared:
        sys.stderr.write("largest relative difference %.2g\n" % largest)


if __name__ == "__main__":
    main()
