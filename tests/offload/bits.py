#!/usr/bin/env python3
"""Trains a model under many settings, each with and without forms of offload, and compares losses,
norms, weights and the files of the last checkpoint.

    bits.py FSDPC FSDP-RUN MODEL
"""
import json
import os
import subprocess
import sys

SETTINGS = [
    ["-n", "1"],
    ["-n", "2"],
    ["-n", "2", "-s", "train.accumulate=3"],
    ["-n", "3", "-s", "shard.layout=param", "-s", "train.accumulate=2"],
    ["-n", "2", "-s", "train.accumulate=2", "-s", "shard.accumulate=local"],
    ["-n", "1", "-s", "train.accumulate=2", "-s", "train.precision=bf16"],
    ["-n", "2", "-s", "shard.strategy=none", "-s", "train.accumulate=2"],
    ["-n", "2", "-s", "shard.strategy=grads", "-s", "train.precision=bf16"],
    ["-n", "2", "-s", "shard.strategy=states", "-s", "train.optimizer=lion(lr = 0.01)"],
    ["--mesh", "rep=2,dp=2", "-s", "train.accumulate=3", "-s", "shard.all_reduce=last"],
    ["-n", "2", "-s", "train.optimizer=muon(lr = 0.01)", "-s", "shard.replicate_below=20"],
    ["-n", "2", "-s", "train.optimizer=adafactor(lr = 0.01)"],
]
FORMS = [
    "(states = cpu)", "(states = cpu, params = cpu, grads = cpu, path = \".\")",
    "(params = cpu, buffers = 1)", "(grads = cpu, states = cpu, buffers = 3)",
]


def contents(folder):
    out = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if name.startswith("rank"):
                with open(os.path.join(path, name), "rb") as f:
                    out[name] = f.read()
    return out


def train(fsdpc, run, model, settings, offload, name, checks):
    plan = name + ".bin"
    command = [fsdpc, "compile", "-q", model, "-o", plan, *settings]
    subprocess.run([*command, "-s", "shard.offload=" + offload], check=True, capture_output=True)
    command = [run, "--quiet", "--threads", "1", "--log", name + ".jsonl", "--save", name]
    command += ["--checkpoint", name + ".ck", "--checkpoint-every", "1", plan]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **checks})
    with open(name + ".jsonl", encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    numbers = [(e.get("step"), e.get("loss"), e.get("grad_norm"), e.get("eval")) for e in events]
    with open(name, "rb") as f:
        return numbers, f.read(), contents(name + ".ck")


def main():
    fsdpc, run, model = sys.argv[1:]
    for k, settings in enumerate(SETTINGS):
        want = train(fsdpc, run, model, settings, "none", f"{k}", {})
        assert any(n[1] for n in want[0]) and want[2], "nothing was trained"
        for j in range(2):
            form = FORMS[(k + 2 * j + k // 4) % len(FORMS)]
            checks = {"FSDP_TEST_STREAMS": "5"} if j else {"FSDP_CHECK": "memory"}
            if train(fsdpc, run, model, settings, form, f"{k}-{j}", checks) != want:
                print("differs:", *settings, form)
    print(f"{len(SETTINGS)} runs, each with 2 forms of offload: the same bits")


main()
