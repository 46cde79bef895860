"""tools.py FSDPC FSDP_RUN MODE [COUNT [SEED]]: the tools for checkpoints, on small models.

reshard  checkpoints of N ranks of all strategies and layouts are rewritten for M ranks and for
         plans: every bit of weights and states is kept, and for a plan the files are those of its
         own run
convert  weights of checkpoints have the bytes of --save, for every type and size of files; and
         back: a run that starts from a checkpoint of weights has every bit of one that loads them
cuts     both again, where ranks along an axis tp share out tensors
damage   each file of a checkpoint with a flipped bit, truncated, missing, empty, swapped with
         another rank's or taken from another step is rejected by name
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys

import folder

FSDPC, RUN, MODE = sys.argv[1:4]
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 6
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 1
MODEL = """
config hf { model_type = "net"; hidden = 12 }
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  c : RMSNorm(12)
  forward(x) = x + b(relu(a(c(x))))
}
module Net {
  emb : Embedding(128, 12)
  h : Block[2]
  out : Linear(12, 128)
  tie out.weight = emb.weight
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
names hf { "h.*.a.weight" = "layers.*.a.weight^T"
           "h.*.b.weight" = "layers.*.b.weight^T"; "*" = "net.*" }
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3
        optimizer = adamw(lr = 0.01); clip = 1.0 }
shard { unit = Block }
"""
VARIANTS = {
    "adamw": [],
    "sgd": ["train.optimizer=sgd(lr = 0.1, momentum = 0.9)"],
    "sgd without momentum": ["train.optimizer=sgd(lr = 0.1)"],
    "adafactor": ["train.optimizer=adafactor(lr = 0.01)"],
    "bf16": ["train.precision=bf16"],
}
LAYOUTS = [["shard.strategy=full"], ["shard.strategy=grads"], ["shard.strategy=none"],
           ["shard.strategy=states"], ["shard.unit=none"], ["shard.unit=Linear"],
           ["shard.align=none"], ["rep=2"], ["rep=2", "shard.strategy=grads"]]
CUTS = [["tp=2"], ["tp=2", "shard.layout=param"], ["tp=2", "shard.strategy=none"]]
RANKS = (1, 2, 3, 4, 6, 8)
if MODE == "cuts":
    RANKS = (2, 4, 6)
    LAYOUTS = CUTS + [["shard.layout=param"], ["shard.unit=Linear"]]


def command(*words, code=0):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done


def compile_plan(name, ranks, settings):
    """rep=2: two replicas of the shards, where the ranks allow it; tp=2: pairs of ranks share out
    each sample's work."""
    mesh = ["-n", ranks]
    if "rep=2" in settings and ranks % 2 == 0:
        mesh = ["--mesh", f"rep=2,dp={ranks // 2}"]
    if "tp=2" in settings:
        mesh = ["--mesh", f"dp={ranks // 2},tp=2"]
    sets = [word for s in settings if s not in ("rep=2", "tp=2") for word in ("-s", s)]
    command(FSDPC, "compile", "-q", "net.fsd", *mesh, "-o", name, *sets, *folder.FORM)


def run(plan, *arguments):
    command(RUN, "-q", "--threads", 1, *arguments, plan)


def fresh(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)
        pathlib.Path(name).unlink(missing_ok=True)


def newest(ck):
    return max(pathlib.Path(ck).glob("step-????????"))


def ranks_files(ck):
    return {f.name: f.read_bytes() for f in newest(ck).glob("*.safetensors")}


def told(ck):
    """What a manifest says beside the layout."""
    manifest = json.loads((newest(ck) / "manifest.json").read_text())
    return {k: v for k, v in manifest.items()
            if k not in ("xxh3", "mesh", "vectors", "files", "wholes", "plan", "rules",
                         "oldest_reader")}


def check(ck):
    assert command(FSDPC, "check", ck).stdout == ""


def reshard(rng):
    for _ in range(COUNT):
        name = rng.choice(list(VARIANTS))
        first, middle, last = (rng.choice(RANKS) for _ in range(3))
        middle = rng.choice((middle, 5, 7, 64))
        before, after = rng.choice(LAYOUTS), rng.choice(LAYOUTS)
        title = f"{name}: {first} ranks {before} to {middle} to {last} ranks {after}"
        compile_plan("p", first, VARIANTS[name] + before)
        compile_plan("q", last, VARIANTS[name] + after)
        fresh("ck", "ck2", "ck3", "ck4")
        run("p", "--checkpoint", "ck")
        command(FSDPC, "reshard", "-q", "ck", "-o", "ck2", "-n", middle)
        command(FSDPC, "reshard", "-q", "ck2", "-o", "ck3", "q")
        run("q", "--checkpoint", "ck4", "--resume", "ck")
        state = folder.tensors(newest("ck"))
        for ck in ("ck2", "ck3"):
            check(ck)
            assert folder.tensors(newest(ck)) == state, title
            assert told(ck) == told("ck"), title
        assert ranks_files("ck3") == ranks_files("ck4"), title
    print(f"{COUNT} pairs: same")


def same_folder(a, b):
    a, b = ({f.name: f.read_bytes() for f in pathlib.Path(x).iterdir()} for x in (a, b))
    return a == b


def convert(rng):
    for _ in range(COUNT):
        name, ranks = rng.choice(list(VARIANTS)), rng.choice(RANKS)
        dtype, size = rng.choice(("f32", "bf16", "f16", None)), rng.choice(("1KB", "3KB", None))
        title = f"{name}: {ranks} ranks, {dtype}, {size}"
        compile_plan("p", ranks, VARIANTS[name] + rng.choice(LAYOUTS))
        fresh("ck", "ck2", "w", "x", "hf", "gf", "log", "log2")
        types, sizes = (["dtype", dtype] if dtype else []), ["--max-file", size] if size else []
        save = ["--save-" + types[0], types[1]] if types else []
        types = ["--" + types[0], types[1]] if types else []
        run("p", "--checkpoint", "ck", "--save", "w", *save)
        run("p", "--load", "ck", "--steps", 0, "--save", "hf/", *save, *sizes)
        command(FSDPC, "convert", "ck", "-o", "x", *types)
        command(FSDPC, "convert", "ck", "-o", "gf/", *types, *sizes)
        assert pathlib.Path("w").read_bytes() == pathlib.Path("x").read_bytes(), title
        assert same_folder("hf", "gf"), title
        source = rng.choice(("x", "gf"))
        command(FSDPC, "convert", "-q", source, "p", "-o", "ck2")
        check("ck2")
        run("p", "--load", source, "--checkpoint", "whole", "--save", "w")
        run("p", "--resume", "ck2", "--checkpoint", "ck2", "--save", "x")
        assert pathlib.Path("w").read_bytes() == pathlib.Path("x").read_bytes(), title
        assert ranks_files("whole") == ranks_files("ck2"), title
        fresh("whole")
    print(f"{COUNT} models: same")


def cuts(rng):
    reshard(rng)
    convert(rng)


def damage(rng):
    compile_plan("p", 3, ["shard.unit=Linear"])
    run("p", "--checkpoint", "ck", "--checkpoint-every", 1, "--keep", 0)
    good, bad = sorted(pathlib.Path("ck").glob("step-*"))[-2:]

    def refuse(name, *words):
        done = command(FSDPC, "check", "ck", code=3)
        for word in (f"{bad}/{name}", f"the newest intact checkpoint before it is {good}", *words):
            assert word in done.stderr, (name, word, done.stderr)

    faults = 0
    for path in sorted(bad.iterdir()):
        raw, other = path.read_bytes(), (good / path.name).read_bytes()
        rest = [f for f in bad.glob("*.safetensors") if f != path and f.read_bytes() != raw]
        kinds = {"gone": None, "empty": b"", "cut": raw[:rng.randrange(len(raw))],
                 "longer": raw + b"\0", "of another step": other,
                 "of another rank": rng.choice(rest).read_bytes()}
        for i in range(COUNT):
            at, bit = rng.randrange(len(raw)), 1 << rng.randrange(8)
            kinds[f"bit {bit} of byte {at}"] = raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1:]
        for kind, data in kinds.items():
            if data == raw:
                continue  # config.json of each step is the same
            path.unlink(missing_ok=True)
            if data is not None:
                path.write_bytes(data)
            refuse(path.name)
            faults += 1
        path.write_bytes(raw)
        check("ck")
    (bad / "rank-00003-of-00004.safetensors").write_bytes(b"")
    refuse("rank-00003-of-00004.safetensors", "does not list this file")
    assert faults > 8 * 6
    print("all refused")


pathlib.Path("t.txt").write_text("".join(f"{i}\n" for i in range(3000)))
pathlib.Path("net.fsd").write_text(MODEL)
{"reshard": reshard, "convert": convert, "cuts": cuts, "damage": damage}[MODE](random.Random(SEED))
