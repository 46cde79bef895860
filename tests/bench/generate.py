#!/usr/bin/env python3
"""Generation by GPT-2 124M with train.cache, and without: seconds for 256 tokens, and their ratio.

    tests/bench/generate.py [--build DIR] [--threads N] [--tokens 256] [--whole 3] [--rounds 2]

Weights are random, samples have 1,024 positions, one text is generated, in f32. Both run
alternately in each round. The start of a run is taken off: its time with one token. Without the
cache each token takes as long as any other, so that only --whole of them are computed. Prints the
best of the rounds. BENCH_PROCESSOR_TIME=1 counts processor time, for a machine that runs other
programs too.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SETTINGS = ("train.batch=1", "train.accumulate=none", "data.val=none", "train.eval_every=none",
            "train.precision=f32", "data.train=synthetic_tokens(50257)")


def now():
    if not os.environ.get("BENCH_PROCESSOR_TIME"):
        return time.monotonic()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", default=ROOT / "build")
    p.add_argument("--threads", default="1")
    p.add_argument("--tokens", type=int, default=256)
    p.add_argument("--whole", type=int, default=3)
    p.add_argument("--rounds", type=int, default=2)
    o = p.parse_args()
    build = pathlib.Path(o.build).resolve()
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            start = now()
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            return now() - start

        for plan, cache in ("cached", "true"), ("whole", "false"):
            settings = [*SETTINGS, f"train.cache={cache}"]
            run(build / "fsdpc", "compile", "-q", ROOT / "models/gpt2.fsd", "-o", plan, "-n", "1",
                *(word for setting in settings for word in ("-s", setting)))
        run(build / "fsdp-run", "-q", "--steps", "0", "--save", "w", "whole")

        def generate(plan, tokens):
            return run(build / "fsdp-run", "-q", "--threads", o.threads, "--load", "w",
                       "--generate", "464", "--tokens", str(tokens), plan)

        best = {}
        for _ in range(o.rounds):
            for plan, tokens in ("cached", o.tokens), ("whole", 1 + o.whole):
                seconds = generate(plan, tokens) - generate(plan, 1)
                seconds *= (o.tokens - 1) / (tokens - 1)
                best[plan] = min(seconds, best.get(plan, seconds))
    print(f"cached {best['cached']:.2f} s, whole {best['whole']:.2f} s for {o.tokens} tokens: "
          f"{best['whole'] / best['cached']:.1f} times faster")


main()
