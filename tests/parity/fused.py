#!/usr/bin/env python3
"""Fused ops give the bits of the ops they replace: plans made without a fusing pass, and without
any of them, have the losses, the norms and the trained weights of the plan that fsdpc makes.

    fused.py FSDPC FSDP_RUN WITHOUT MODELS [all]

WITHOUT is the program of tests/parity/without.c, MODELS a list like `gpt2,mlp`; a number is the
seed of a random model (random_parts.py), of which only fuse_elementwise is left out. `all` crosses
all settings; otherwise each model runs under a few that have every value of each.
"""
import array
import itertools
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from random_parts import Parts  # noqa: E402

PASSES = ["fuse_packed_attention", "fuse_gelu", "fuse_backward", "pad", "fuse_norm", "fuse_loss",
          "fuse_elementwise"]
FEW = [("f32", "none", 1, 1), ("bf16(master = f32)", "0.01", 3, 1), ("f32", "0.01", 3, 2),
       ("bf16(master = f32)", "none", 1, 2)]
ALL = list(itertools.product(("f32", "bf16(master = f32)"), ("none", "0.01"), (1, 3), (1, 2)))
NPY = ["train.batch=12", 'data.train=npy(x="x.npy",y="y.npy")', 'data.val=none',
       'train.metric=none']
# Widths that end in the middle of vectors; a vocabulary that bf16 pads.
MODELS = {
    "gpt-text": ["L=2", "D=24", "H=3", "seq=10", "vocab=257", "train.batch=12",
                 "train.eval_every=2", "train.eval_steps=1",
                 'data.train=text("t.txt")', 'data.val=text("t.txt")'],
    "gpt2": ["L=2", "D=20", "H=2", "seq=6", "vocab=257", "drop=0.1", "train.batch=12",
             'data.train=tokens("t.bin")', "data.val=none"],
    "formulas": ["D=13", "train.batch=12", "data.length=10", 'data.train=text("t.txt")'],
    "parts": ["train.batch=12", "data.length=10", 'data.train=text("t.txt")'],
    "rows": ["D=37", "train.batch=12", "data.length=10", 'data.train=text("t.txt")'],
    "mlp": ["hidden=19", "pixels=13", "train.epochs=none"] + NPY,
    "linear": ["features=13"] + NPY,
    "six-layers": ["D=13"] + NPY,
}


def write_npy(path, shape, kind, values):
    head = str({"descr": kind, "fortran_order": False, "shape": shape})
    head += " " * (117 - len(head)) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + values)


def write_data(folder):
    noise = [(i * i * 7919 + i * 31) % 251 for i in range(4000)]
    with open(os.path.join(folder, "t.txt"), "wb") as f:
        f.write(bytes(noise))
    with open(os.path.join(folder, "t.bin"), "wb") as f:
        f.write(b"".join(n.to_bytes(4, "little") for n in [20240520, 1, len(noise)] + [0] * 253))
        f.write(b"".join(n.to_bytes(2, "little") for n in noise))
    x = array.array("f", [n / 100 - 1 for n in noise[:60 * 13]])
    write_npy(os.path.join(folder, "x.npy"), (60, 13), "<f4", x.tobytes())
    y = array.array("i", [n % 10 for n in noise[:60]])
    write_npy(os.path.join(folder, "y.npy"), (60,), "<i4", y.tobytes())


def model_file(root, folder, name):
    if name.isdigit():
        path = os.path.join(folder, "random.fsd")
        with open(path, "w", encoding="utf-8") as f:
            f.write(Parts(int(name)).text())
        return path
    path = os.path.join(root, "models", name + ".fsd")
    return path if os.path.exists(path) else os.path.join(root, "tests", "parity", name + ".fsd")


def outcome(run, folder):
    """Losses and norms of the steps as they are written, and the weights' bytes."""
    log, weights = os.path.join(folder, "log"), os.path.join(folder, "w")
    subprocess.run([run, "--quiet", "--threads", "1", "--log", log, "--save", weights, "plan"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    steps = [json.loads(line) for line in open(log, encoding="utf-8")]
    with open(weights, "rb") as f:
        return [(s["loss"], s["grad_norm"]) for s in steps if s["event"] == "step"], f.read()


def main():
    fsdpc, run, without = sys.argv[1:4]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    runs = wrong = 0
    with tempfile.TemporaryDirectory(prefix="fused-") as folder:
        write_data(folder)
        for name in sys.argv[4].split(","):
            model = model_file(root, folder, name)
            few = FEW[:2] if name.isdigit() else FEW
            for precision, clip, accumulate, ranks in ALL if "all" in sys.argv[5:] else few:
                sets = MODELS.get(name, []) + ["train.steps=3", f"train.precision={precision}",
                                       f"train.clip={clip}", f"train.accumulate={accumulate}",
                                       "train.schedule=constant(warmup=0)"]
                options = ["-n", str(ranks)] + [w for s in sets for w in ("-s", s)]
                subprocess.run([fsdpc, "compile", "-q", model, "-o", "plan"] + options,
                               cwd=folder, check=True)
                wanted = outcome(run, folder)
                for off in PASSES[-1:] if name.isdigit() else [",".join(PASSES)] + PASSES:
                    subprocess.run([without, off, model, "plan"] + options, cwd=folder, check=True)
                    runs += 1
                    if outcome(run, folder) != wanted:
                        wrong += 1
                        print(f"{name}, {precision}, clip {clip}, accumulate {accumulate}, "
                              f"{ranks} ranks: other bits without {off}")
    print(f"{runs} runs, {wrong} with other bits")


if __name__ == "__main__":
    main()
