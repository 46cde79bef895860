#!/usr/bin/env python3
"""Models with train.cache and without: the same tokens, log-probabilities within 2e-6.

    cached.py FSDPC FSDP_RUN MODEL.fsd..

Each is compiled at a small size (small.sh), gets random weights, and continues three prompts by
five tokens, the likeliest ones and others. Prints how far log-probabilities differ at most, or why
there is no cache.
"""
import json
import os
import subprocess
import sys
import tempfile

SMALL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small.sh")
NEAR = 2e-6


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout, done.stderr if done.returncode else ""


def compiled(fsdpc, model, cache):
    settings = [f"train.cache={cache}", "data.val=none", "train.eval_every=none"]
    settings += ["train.metric=none", "train.accumulate=none", "train.batch=4"]
    settings += ["train.precision=f32"]
    data = ["data.train=synthetic_tokens(97)"] if reads_tokens(model) else []
    options = [word for s in settings + data for word in ("-s", s)]
    return run("bash", SMALL, fsdpc, model, "-n", "1", "-q", "-o", "p" + cache, *options)[1]


def reads_tokens(model):
    with open(model, encoding="utf-8") as f:
        return "model(inputs)" in f.read()


def texts(fsdp_run, cache, *draw):
    out, err = run(fsdp_run, "-q", "--threads", "1", "--load", "w", "--tokens", "5", "--prompts",
                   "prompts", *draw, "p" + cache)
    return [json.loads(line) for line in out.splitlines()] if not err else sys.exit(err)


def compare(fsdpc, fsdp_run, model):
    error = compiled(fsdpc, model, "true")
    if error:
        return error.splitlines()[0]
    error = compiled(fsdpc, model, "false")
    error = error or run(fsdp_run, "-q", "--steps", "0", "--save", "w", "pfalse")[1]
    if error:
        sys.exit(error)
    far = 0
    for draw in [], ["--temperature", "2", "--top-k", "9"]:
        a, b = (texts(fsdp_run, cache, *draw) for cache in ("true", "false"))
        if [x["ids"] for x in a] != [x["ids"] for x in b]:
            return "other tokens"
        for x, y in zip(a, b):
            far = max([far, *(abs(p - q) for p, q in zip(x["logprobs"], y["logprobs"]))])
    return "the same" if far < NEAR else f"log-probabilities differ by {far:.2g}"


def main(fsdpc, fsdp_run, *models):
    models = [os.path.abspath(m) for m in models]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("prompts", "w", encoding="utf-8") as f:
            f.write("5\n1 2 3 4 44 17 9 8 12\n28 0 7\n")
        for m in models:
            print(f"{os.path.basename(m)[:-4]}: {compare(fsdpc, fsdp_run, m)}", flush=True)


main(*map(os.path.abspath, sys.argv[1:3]), *sys.argv[3:])
