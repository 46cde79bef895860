"""Trains small models under many meshes with stages, and checks what is stored and used: a
checkpoint made under any of them goes on under any other with the bits of an uninterrupted run of
one stage; --save, --load, --dump-grads, --eval-only, --generate and the tools of checkpoints give
the bytes of one stage, too, also in test modes. Prints what differs, then how many comparisons
there were.

    storage.py FSDPC FSDP_RUN
"""
import json
import os
import subprocess
import sys
import tempfile

MODEL = """
config { D = 12; classes = 10 }
module Layer {
  fc : Linear(D, D, bias = true)
  norm : LayerNorm(D)
  forward(x: [B, D]) { return x + dropout(relu(fc(norm(x))), 0.1) }
}
module Net {
  first : Linear(D, D, bias = true)
  h : Layer[4]
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
  batch = 16; steps = 4; accumulate = 2; clip = 1; optimizer = adamw(lr = 0.01)
  schedule = cosine(warmup = 2, final = 0.1); eval_every = 4; eval_steps = 1
}
shard { unit = Layer }
"""

TEXT_MODEL = """
config { D = 16 }
module Net {
  emb : Embedding(256, D)
  h : Linear(D, D, bias = true)[4]
  head : Linear(D, 256)
  forward(ids: [B, T]) {
    x = emb(ids)
    for layer in h { x = x + relu(layer(x)) }
    return head(x)
  }
}
model = Net
data { train = text("text"); val = text("text"); length = 16 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; accumulate = 2; steps = 12
        optimizer = adamw(lr = 0.02); eval_every = 4; eval_steps = 1 }
shard { unit = Linear }
"""

# Two parameters that two stages read, each twice: with one rank a stage and one micro-batch its
# gradient is a sum of two terms, which has the same bits in any order if the second product is
# summed before it is added to the first. oneDNN does so; product.c, which processors without
# AVX-512 use, begins with the first.
TIED = MODEL.replace("classes = 10", "classes = 12").replace("accumulate = 2; ", "")
FORWARD = "  forward(x: [B, D]) {\n"
TIES = "  tie head.weight = first.weight\n  tie head.bias = first.bias\n"
TIED = TIED.replace(FORWARD, TIES + FORWARD)
SUMMED_FIRST = {"FSDP_CPU_MATMUL": "onednn"}

INTERLEAVED = ["shard.pipeline=interleaved", "shard.stages=4"]
FULL = ["checkpoint.form=full"]
COPY = ["checkpoint.snapshot=copy"]
PARAM = ["shard.layout=param"]
OFFLOADED = ["shard.offload=(states = cpu, params = cpu)"]
BF16 = ["train.precision=bf16"]
# Axes of a stage and settings; then the ways to store it, each a number of stages and settings, the
# first of them one stage.
STORED = [
    ("dp=2", [], [(1, []), (2, COPY), (4, PARAM), (2, INTERLEAVED + FULL), (3, FULL)]),
    ("rep=2,dp=2", ["shard.strategy=states"], [(1, FULL), (2, []), (3, PARAM)]),
    ("dp=2", ["train.optimizer=muon(lr = 0.01)", *BF16], [(1, []), (3, FULL), (2, [])]),
    ("dp=2", ["train.optimizer=adafactor(lr = 0.01)"],
     [(1, []), (2, ["checkpoint.snapshot=1KiB"])]),
    ("dp=2,tp=2", [], [(1, []), (2, FULL), (3, [])]),
    ("dp=2", OFFLOADED, [(1, []), (2, [])]),
]
STORED_TIED = [
    ("dp=1", [], [(1, []), (2, COPY), (4, PARAM), (3, FULL)]),
    ("dp=1", ["train.optimizer=adafactor(lr = 0.01)"], [(1, []), (3, []), (2, FULL)]),
]
# Ways to use the weights of a model.
USED = [
    ("dp=2", [], [(1, []), (2, []), (4, PARAM), (2, INTERLEAVED)]),
    ("rep=2,dp=2", ["shard.strategy=states"], [(1, []), (3, [])]),
    ("dp=2,tp=2", [], [(1, []), (2, [])]),
    ("dp=2", BF16 + OFFLOADED, [(1, []), (2, [])]),
]
MODES = [{"FSDP_CHECK": "memory"}, {"FSDP_CHECK": "replicas"}, {"FSDP_TEST_STREAMS": "7"}]


class Runs:
    def __init__(self, fsdpc, fsdp_run, folder, environment):
        self.fsdpc, self.fsdp_run, self.folder = fsdpc, fsdp_run, folder
        self.environment = {**os.environ, **environment}
        self.compared = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *command, **environment):
        found = subprocess.run(command, capture_output=True, text=True, cwd=self.folder,
                               env={**self.environment, **environment})
        if found.returncode:
            sys.exit("%s: exit code %d: %s" % (" ".join(command), found.returncode, found.stderr))
        return found.stdout

    def plan(self, name, stages, axes, settings):
        out = self.path(name)
        command = [self.fsdpc, "compile", "-q", "--mesh", "pp=%d,%s" % (stages, axes), "-o", out]
        for setting in settings:
            command += ["-s", setting]
        self.call(*command, self.path("m.fsd"))
        return out

    def train(self, plan, *options, **environment):
        """Losses, norms and metrics by step."""
        log = self.path("log")
        command = [self.fsdp_run, "-q", "--threads", "1", "--log", log, *options, plan]
        self.call(*command, **environment)
        with open(log) as text:
            rows = [json.loads(line) for line in text]
        os.remove(log)
        keys = ("event", "step", "loss", "grad_norm", "accuracy")
        return [[row.get(k) for k in keys] for row in rows if row["event"] in ("step", "eval")]

    def same(self, what, one, several):
        self.compared += 1
        if one != several:
            print("%s:\n  one stage %s\n  several   %s" % (what, one, several))

    def same_files(self, what, one, several):
        with open(self.path(one), "rb") as a, open(self.path(several), "rb") as b:
            self.same(what, a.read() == b.read(), True)


def check_checkpoints(runs, axes, settings, ways):
    """From each way to the next one, and from there with `reshard` to the one after it."""
    names = ["%d stages of %s %s %s" % (n, axes, settings, own) for n, own in ways]
    plans = [runs.plan("p%d" % i, n, axes, settings + own) for i, (n, own) in enumerate(ways)]
    whole = runs.train(plans[0], "--save", runs.path("whole"))
    half = runs.train(plans[0], "--steps", "2", "--save", runs.path("half"))
    for i, plan in enumerate(plans):
        to, then = (i + 1) % len(plans), (i + 2) % len(plans)
        ck, moved = runs.path("ck%d" % i), runs.path("moved%d" % i)
        first = runs.train(plan, "--steps", "2", "--checkpoint", ck, "--save", runs.path("w"))
        runs.same(names[i], first, half)
        runs.same_files("--save of " + names[i], "half", "w")
        runs.call(runs.fsdpc, "check", ck)
        runs.call(runs.fsdpc, "convert", "-q", ck, "-o", runs.path("w"))
        runs.same_files("convert of " + names[i], "half", "w")
        rest = runs.train(plans[to], "--resume", ck, "--save", runs.path("w"))
        runs.same("%s goes on as %s" % (names[i], names[to]), whole[2:], rest)
        runs.same_files("the weights of it", "whole", "w")
        runs.call(runs.fsdpc, "reshard", "-q", ck, plans[then], "-o", moved)
        runs.call(runs.fsdpc, "check", moved)
        rest = runs.train(plans[then], "--resume", moved)
        runs.same("%s resharded to %s" % (names[i], names[then]), whole[2:], rest)
    even = runs.path("even")
    runs.call(runs.fsdpc, "reshard", "-q", runs.path("ck1"), "-n", "3", "-o", even)
    runs.same("reshard -n 3 of " + names[1], whole[2:], runs.train(plans[-1], "--resume", even))


def use(runs, plan):
    """What a plan makes of trained weights, as text and as files `grads` and `w`."""
    load = ("--load", runs.path("trained"))
    grads = ("--dump-grads", "1=" + runs.path("grads"))
    found = [runs.train(plan, "--eval-only", *load),
             runs.train(plan, "--steps", "3", "--save", runs.path("w"), *load, *grads)]
    for temperature in "0", "0.8":
        options = ["--generate", "a stage", "--tokens", "6", "--temperature", temperature]
        found.append(runs.call(runs.fsdp_run, "-q", "--threads", "1", *load, *options, plan))
    return found


def check_uses(runs, axes, settings, ways):
    for i, (n, own) in enumerate(ways):
        name = "%d stages of %s %s %s" % (n, axes, settings, own)
        plan = runs.plan("p", n, axes, settings + own)
        if i == 0:
            runs.train(plan, "--save", runs.path("trained"))
        found = use(runs, plan)
        if i == 0:
            one = found
            os.rename(runs.path("w"), runs.path("one"))
            os.rename(runs.path("grads"), runs.path("one grads"))
            continue
        runs.same(name, one, found)
        runs.same_files("--save of " + name, "one", "w")
        runs.same_files("--dump-grads of " + name, "one grads", "grads")
        for mode in MODES:
            rows = runs.train(plan, "--steps", "3", "--load", runs.path("trained"), **mode)
            runs.same("%s with %s" % (name, mode), one[1], rows)


def main():
    fsdpc, fsdp_run = (os.path.abspath(path) for path in sys.argv[1:])
    tried = [(MODEL, check_checkpoints, *row) for row in STORED]
    tried += [(TIED, check_checkpoints, *row) for row in STORED_TIED]
    tried += [(TEXT_MODEL, check_uses, *row) for row in USED]
    for text, check, axes, settings, ways in tried:
        with tempfile.TemporaryDirectory() as folder:
            runs = Runs(fsdpc, fsdp_run, folder, SUMMED_FIRST if text is TIED else {})
            with open(runs.path("m.fsd"), "w") as model:
                model.write(text)
            with open(runs.path("text"), "w") as file:
                file.write("a stage of a pipeline has some of the layers of a model. " * 20)
            check(runs, axes, settings, ways)
        print("%s %s: %d comparisons" % (axes, settings, runs.compared))


main()
