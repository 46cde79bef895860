"""resume.py FSDPC FSDP_RUN pieces|layouts|signals [COUNT [SEED]]: trains small models with and
without interruptions, and compares every bit of weights, states and log.

pieces   runs that end after some steps and resume from their checkpoint, for models with each kind
         of state
layouts  a checkpoint of N ranks and a strategy is resumed with M ranks and another strategy. Equal
         must be: the initial state and the weights that it saves; at the same number of ranks
         everything that follows; at other numbers the losses, within rounding
cuts     the same, and at least one of both has a mesh with an axis tp, cp or zigzag
signals  runs that are interrupted at random moments, most of them after their first step
"""
from math import lcm
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import folder

FSDPC, RUN, MODE = sys.argv[1:4]
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 6
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 1
MODEL = """
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  forward(x) = x + dropout(b(relu(a(x))), 0.1)
}
module Net {
  emb : Embedding(128, 12)
  h : Block[2]
  out : Linear(12, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
names hf { "h.0.a.weight" = "a^T"[:, : 20]; "h.1.a.weight" = "a^T"[:, 20 :]
           "h.*.b.weight" = "h.*.b^T"; "out.weight" = ["out"[: 50], "rest"]; "*" = "*" }
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 13
        optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 3; eval_steps = 2 }
shard { unit = Block }
"""
VARIANTS = {
    "adamw": [],
    "sgd": ["train.optimizer=sgd(lr = 0.1, momentum = 0.9)"],
    "sgd without momentum": ["train.optimizer=sgd(lr = 0.1)"],
    "lion": ["train.optimizer=lion(lr = 0.001)"],
    "adafactor": ["train.optimizer=adafactor(lr = 0.01)"],
    "muon": ["train.optimizer=muon(lr = 0.01)"],
    "adan": ["train.optimizer=adan(lr = 0.001)"],
    "accumulate": ["train.accumulate=2"],
    "bf16": ["train.precision=bf16"],
    "skipped steps": ["train.optimizer=sgd(lr = 1e30)", "train.on_nan=skip", "train.clip=none"],
    "in order": ["data.order=sequential", "train.schedule=cosine(warmup = 3, final = 0.1)"],
}
LAYOUTS = [["shard.strategy=full"], ["shard.strategy=grads"], ["shard.strategy=none"],
           ["shard.strategy=states"], ["shard.unit=none"],
           ["shard.unit=Linear", "shard.prefetch=0"], ["shard.align=none"], ["shard.reshard=false"],
           ["rep=2"], ["rep=2", "shard.strategy=grads"], ["shard.layout=param"],
           ["shard.layout=param", "shard.unit=Linear", "shard.strategy=states"],
           ["shard.layout=param", "rep=2"], ["shard.offload=(states = cpu, params = cpu)"],
           ["shard.layout=param", "shard.offload=(states = cpu, grads = cpu, path = \".\")"],
           ["columns"], ["columns", "rep=2"],
           ["columns", "shard.unit=Linear", "shard.strategy=states"]]
CUTS = [["tp=2"], ["tp=2", "outermost"], ["tp=2", "rep=2"], ["tp=2", "shard.strategy=none"],
        ["tp=2", "shard.layout=param"], ["tp=2", "outermost", "shard.layout=param", "rep=2"],
        ["tp=2", "shard.unit=Linear", "shard.strategy=grads"], ["tp=2", "shard.align=none"],
        ["tp=2", "shard.gather=i8"], ["tp=2", "shard.strategy=states", "shard.unit=none"],
        ["cp=2", "tp=2"], ["zigzag=2"], ["zigzag=2", "outermost", "tp=2"],
        ["zigzag=2", "rep=2", "shard.layout=param"]]
AXES = ["rep=2", "tp=2", "cp=2", "zigzag=2"]
WORDS = (*AXES, "columns", "outermost")


COLUMNS = """
shard { layout = param; "emb.weight" = split(dp, axis = 1); "h.*.b.weight" = split(dp, axis = 1)
        "out.weight" = split(dp, axis = 1) }
"""


def compile_plan(name, ranks, settings):
    """rep=2: two replicas of the shards, where the ranks allow it; columns: axis 1, likewise;
    tp=2, cp=2, zigzag=2: pairs of ranks share out each sample's work, next to each other or
    (outermost) far."""
    axes, shards = [], ranks
    for axis in reversed(AXES):
        if axis in settings and shards % 2 == 0:
            axes.append(axis)
            shards //= 2
    axes.insert(0, f"dp={shards}")
    if "outermost" not in settings:
        axes.sort(key=["rep=2", f"dp={shards}", "cp=2", "zigzag=2", "tp=2"].index)
    mesh = ["--mesh", ",".join(axes)] if len(axes) > 1 else ["-n", str(ranks)]
    columns = "columns" in settings and 12 % shards == 0 and 20 % shards == 0
    source = "columns.fsd" if columns else "net.fsd"
    command = [FSDPC, "compile", "-q", source, *mesh, "-o", name, *folder.FORM]
    for s in settings:
        command += ["-s", s] if s not in WORDS else []
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def run(plan, *arguments, code=0):
    done = subprocess.run([RUN, "-q", "--threads", "1", *map(str, arguments), plan],
                          capture_output=True, text=True, check=False)
    if code is not None:
        assert done.returncode == code, done.stderr
    return done


ROUNDING, FARTHEST = 1e-6, 0.0
COMPARED = ("event", "step", "loss", "grad_norm", "lr", "samples", "tokens", "skipped")


def told(log):
    """What a log says that does not depend on time or on interruptions."""
    lines = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    return [{k: v for k, v in line.items() if k in COMPARED}
            for line in lines if line["event"] in ("step", "eval")]


def fresh(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)
        pathlib.Path(name).unlink(missing_ok=True)


def newest(ck):
    return max(pathlib.Path(ck).glob("step-????????"))


def whole(plan):
    fresh("whole", "whole.log", "whole.ck")
    run(plan, "--log", "whole.log", "--save", "whole", "--checkpoint", "whole.ck")


def assert_whole(title):
    assert told("log") == told("whole.log"), title
    assert pathlib.Path("w").read_bytes() == pathlib.Path("whole").read_bytes(), title
    assert folder.tensors(newest("ck")) == folder.tensors(newest("whole.ck")), title


def pieces(rng):
    names = list(VARIANTS)
    for i in range(COUNT):
        name, ranks = names[i % len(names)], rng.choice((1, 2, 3, 4))
        compile_plan("p", ranks, VARIANTS[name])
        whole("p")
        if name == "skipped steps":
            assert '"skipped":true' in pathlib.Path("whole.log").read_text()
        fresh("ck", "log", "w")
        cuts = sorted(rng.sample(range(1, 13), 3)) + [13]
        for cut in cuts:
            run("p", "--resume-or-start", "ck", "--steps", cut, "--log", "log", "--save", "w")
        assert_whole(f"{name}, {ranks} ranks, ended after {cuts}")
        print(f"{name}: same")


def assert_near(title):
    """Other numbers of ranks add in another order."""
    global FARTHEST
    for a, b in zip(told("log"), told("whole.log"), strict=True):
        assert a.keys() == b.keys() and a["step"] == b["step"], title
        away = abs(a["loss"] - b["loss"]) / b["loss"]
        FARTHEST = max(FARTHEST, away)
        assert away < ROUNDING, (title, a, b)


def layouts(rng, cuts=False):
    for _ in range(COUNT):
        name = rng.choice(("adamw", "sgd", "lion", "adan", "adafactor", "muon"))
        first, second = (rng.randint(1, 8) for _ in range(2))
        if rng.random() < 0.3:
            second = first
        before, after = rng.choice(LAYOUTS), rng.choice(LAYOUTS)
        if cuts:
            before, after = rng.choice(CUTS + LAYOUTS), rng.choice(CUTS)
            second = rng.choice((2, 4, 6, 8))
            if rng.random() < 0.5:
                first, second, before, after = second, first, after, before
        cut = rng.randrange(0, 13)
        title = f"{name}: {first} ranks {before} to {second} ranks {after} after {cut} steps"
        batch = [f"train.batch={lcm(first, second, 24)}"]
        compile_plan("p", first, VARIANTS[name] + before + batch)
        compile_plan("q", second, VARIANTS[name] + after + batch)
        fresh("ck", "ck2", "log", "v", "w")
        run("p", "--checkpoint", "ck", "--steps", cut, "--log", "log", "--save", "v")
        run("q", "--checkpoint", "ck2", "--steps", cut, "--resume", "ck", "--save", "w")
        assert folder.tensors(newest("ck")) == folder.tensors(newest("ck2")), title
        assert pathlib.Path("v").read_bytes() == pathlib.Path("w").read_bytes(), title
        if "shard.gather=i8" in before + after:
            continue
        replicas_alike = all((word in before) == (word in after)  # they add in several steps
                             for word in (*AXES, "outermost"))
        whole("p")
        run("q", "--checkpoint", "ck", "--resume", "ck", "--log", "log", "--save", "w")
        if first == second and replicas_alike:
            assert_whole(title)
        else:
            assert_near(title)
    print(f"{COUNT} pairs: same")
    if COUNT >= 100:
        print(f"losses at other numbers of ranks: up to {FARTHEST:.1e} away", file=sys.stderr)


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def signals(rng):
    compile_plan("p", 2, ["train.steps=1000"])
    whole("p")
    fresh("ck", "log", "w")
    command = [RUN, "-q", "--threads", "1", "--resume-or-start", "ck", "--checkpoint-every", "60",
               "--log", "log", "--save", "w", "p"]
    codes = []
    while True:
        steps = size_of("log")
        p = subprocess.Popen(command)
        if len(codes) < COUNT:
            late = rng.random() < 0.8
            while late and size_of("log") == steps and p.poll() is None:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.05))
            os.kill(p.pid, rng.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                                       signal.SIGUSR1, signal.SIGKILL)))
        codes.append(p.wait())
        assert codes[-1] in (0, 130, -9, -2, -15, -1, -10), codes
        if codes[-1] == 0:
            break
    assert_whole(f"signals {codes}")
    assert 130 in codes, codes
    print("same")


pathlib.Path("t.txt").write_text("".join(f"{i}\n" for i in range(9000)))
pathlib.Path("net.fsd").write_text(MODEL)
pathlib.Path("columns.fsd").write_text('use "net.fsd"' + COLUMNS)
{"pieces": pieces, "layouts": layouts, "signals": signals,
 "cuts": lambda rng: layouts(rng, True)}[MODE](random.Random(SEED))
