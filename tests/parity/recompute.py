#!/usr/bin/env python3
"""Recomputation changes no number and no collective: for classes and ops of each model, losses,
norms and trained weights have the bits of the run without, and a step has the same collectives.

    recompute.py FSDPC FSDP_RUN MODELS
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

import fused

CHOICES = {
    "gpt-text": ["Block", "[Attention, MLP]", "(ops = [gelu, layer_norm, dropout])"],
    "gpt2": ["Block", "MLP", "[Attention, LayerNorm]", "GPT2", "(ops = gelu)",
             "(Block, keep = [linear, attention])",
             "(MLP, ops = [layer_norm, attention], keep = gelu)",
             "(ops = [linear, gelu, layer_norm, dropout, add, attention])"],
    "mlp": ["Linear", "MLP", "(ops = relu)"],
    "six-layers": ["Linear", "Net", "(ops = [linear, relu])"],
}


def sent(fsdpc, folder):
    """How many collectives of each kind a step of the plan has."""
    done = subprocess.run([fsdpc, "dump", "--format=json", "plan"], cwd=folder, check=True,
                          capture_output=True, text=True)
    plan = json.loads(done.stdout)
    return collections.Counter(c[1] for c in plan["collectives"])


def main():
    fsdpc, run = sys.argv[1:3]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    runs = wrong = 0
    with tempfile.TemporaryDirectory(prefix="recompute-") as folder:
        fused.write_data(folder)
        for name in sys.argv[3].split(","):
            model = os.path.join(root, "models", name + ".fsd")
            for precision, clip, accumulate, ranks in fused.FEW:
                sets = fused.MODELS[name] + ["train.steps=3", f"train.precision={precision}",
                                             f"train.clip={clip}", f"train.accumulate={accumulate}",
                                             "train.schedule=constant(warmup=0)"]
                options = ["-n", str(ranks)] + [w for s in sets for w in ("-s", s)]
                wanted = None
                for again in ["none"] + CHOICES[name]:
                    subprocess.run([fsdpc, "compile", "-q", model, "-o", "plan"] + options +
                                   ["-s", f"shard.recompute={again}"], cwd=folder, check=True)
                    got = fused.outcome(run, folder), sent(fsdpc, folder)
                    wanted = wanted or got
                    runs += again != "none"
                    if got != wanted:
                        wrong += 1
                        print(f"{name}, {precision}, clip {clip}, accumulate {accumulate}, "
                              f"{ranks} ranks: recompute = {again} differs")
    print(f"{runs} runs, {wrong} differ")


main()
