#!/usr/bin/env python3
"""Compares units, flat layouts and the order of collectives with those of PyTorch.

    sharding.py FSDPC MODELS wrap|layouts|rows|collectives

The numbers are in data/*.json next to this file: those of PyTorch 2.15 for gpt2.fsd, as wrapped by
its policies, flattened by FullyShardedDataParallel, and recorded in a step on 2 and 4 processes.
Each function explains its numbers. Prints each case that differs, and then exits with 1.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    with open(os.path.join(HERE, "data", name), encoding="utf-8") as f:
        return json.load(f)


class Compiler:
    def __init__(self, fsdpc, models):
        self.fsdpc = fsdpc
        with open(os.path.join(models, "gpt2.fsd"), encoding="utf-8") as f:
            self.text = f.read()
        self.folder = tempfile.mkdtemp()

    def dump(self, config, ranks, shard, train="", rank=None):
        """The JSON object of the model with these settings; shard and train are lines of .fsd."""
        text = re.sub(r"^shard \{.*\}", "shard { " + shard + " }", self.text, flags=re.M)
        text = re.sub(r"precision = [^}]*\}", "precision = f32 }", text)
        path = os.path.join(self.folder, "gpt2.fsd")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        command = [self.fsdpc, "dump", "--format=json", "-n", str(ranks), path]
        command += ["-s", "train.batch=%d" % (ranks * 4)]
        for name, value in config.items():
            command += ["-s", f"{name}={value}"]
        for setting in filter(None, train.split(";")):
            command += ["-s", setting.strip()]
        if rank is not None:
            command += ["--rank", str(rank)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return json.loads(done.stdout)


def unit_of(policy):
    if policy.startswith("size"):
        return "unit = size(%s)" % policy.split()[1]
    return {"block": "unit = Block", "none": "unit = root"}[policy]


def units_of_pytorch(case, parameters):
    """PyTorch counts a tied parameter in each module that has it and may put it in two units. Here
    it counts once, at the root, the lowest module around both; no unit holds it alone."""
    units = [list(u) for u in case["units"]]
    for pair in case.get("tied_across_units", []):
        owners = [p.rsplit(".", 1)[0] for p in pair]
        elements = next(u[3] for u in units if u[0] == owners[0])
        units = [u for u in units if u[0] not in owners]
        units[-1][3] += elements
    units[-1][2] = parameters
    return [u for u in units if u[3]]


def check_wrap(compiler):
    for key, cases in load("wrap.json").items():
        config = dict(x.split("=") for x in key.split()[1:])
        for policy, case in cases.items():
            if policy == "parameters":
                continue
            mine = compiler.dump(config, 1, unit_of(policy))
            same = mine["units"] == units_of_pytorch(case, cases["parameters"])
            yield f"{key}: {policy}", same and mine["parameters"] == cases["parameters"]


def check_layouts(compiler):
    """Offsets, padding and shards, and at 3 and 5 ranks every piece of every rank."""
    for case in load("layouts.json"):
        name = " ".join(f"{k}={v}" for k, v in case["set"].items()) + " " + case["policy"]
        for variant, align in (("flat", "align = none"), ("flat_aligned", "align = 16B")):
            shard = f"{unit_of(case['policy'])}; {align}"
            for ranks in map(int, next(iter(case["units"].values()))[variant]):
                mine = compiler.dump(case["set"], ranks, shard)["layout"]
                same = list(mine) == list(case["units"])
                pieces = "pieces" in next(iter(case["units"].values()))[variant][str(ranks)]
                by_rank = [compiler.dump(case["set"], ranks, shard, rank=r)["layout"]
                           for r in range(ranks if pieces else 0)]
                for unit, wanted in case["units"].items():
                    want, got = dict(wanted[variant][str(ranks)]), mine[unit]
                    names = [p[0] for p in got["parameters"]]
                    same &= names == [p[0] for p in wanted["parameters"]]
                    for r, part in enumerate(by_rank):
                        same &= part[unit]["pieces"] == want["pieces"][r]
                    want.pop("pieces", None)
                    same &= all(got[k] == v for k, v in want.items())
                yield f"{name} {variant} {ranks} ranks", same


def rows_by_rank(group, ranks):
    """By parameter: the rows that each rank has, and how many there is room for."""
    rows, room = {}, {}
    for k, (name, shape, elements) in enumerate(group["parameters"]):
        width = elements // shape[0]
        held = [[count for p, _, count, _ in group["pieces"][r] if p == k]
                for r in range(ranks)]
        rows[name] = [sum(counts) // width for counts in held]
        room[name] = group["chunks"][k] // width
    return rows, room


def check_rows(compiler):
    """FSDP2: rows of each parameter on each rank, their room, and what a rank sends."""
    for case in load("layouts.json"):
        name = " ".join(f"{k}={v}" for k, v in case["set"].items()) + " " + case["policy"]
        for ranks in map(int, next(iter(case["units"].values()))["per_parameter"]):
            mine = compiler.dump(case["set"], ranks, unit_of(case["policy"]) + "; layout = param",
                                 rank="all")["layout"]
            same = list(mine) == list(case["units"])
            for unit, wanted in case["units"].items():
                want = wanted["per_parameter"][str(ranks)]
                rows, room = rows_by_rank(mine[unit], ranks)
                names = [p[0] for p in wanted["parameters"]]
                same &= [rows[p] for p in names] == want["rows"]
                same &= [room[p] for p in names] == want["padded_rows"]
                same &= mine[unit]["shard"] == want["padded_shard"]
            yield f"{name} by rows, {ranks} ranks", same


def settings_of(case):
    """The knobs that ask for what PyTorch was asked for."""
    shard = ["unit = Block", "prefetch = (forward = 0, backward = 1)"]
    train = ["train.accumulate=%d" % case.get("accumulate", 1)]
    local = not case.get("sync", True)
    prefetch = case.get("backward_prefetch", "PRE")
    if prefetch == "none":
        shard[1] = "prefetch = 0"
    if prefetch == "POST":
        shard.append("prefetch_at = post")
    strategy = case.get("strategy", "FULL_SHARD")
    if strategy == "SHARD_GRAD_OP":
        shard.append("strategy = grads")
    if strategy == "NO_SHARD":
        shard.append("strategy = none")
    if case.get("reshard") is True:
        shard.append("reshard_root = true")
    if case.get("reshard") is False:
        shard.append("reshard = false")
    if local:
        shard.append("accumulate = local")
    if "bf16_reduce" in case:
        train.append(f"train.precision=bf16(reduce = {case['bf16_reduce']})")
    return "; ".join(shard), ";".join(train)


def events_of(events, elements):
    """Only what both record: metrics are ours alone. FSDP2 pads each parameter by itself, so that
    its units are larger: without `elements` sizes are not compared."""
    for e in events:
        if len(e) == 3:
            yield tuple(e)
        elif len(e) < 7:
            yield (*e[:3], e[3] if elements else None, e[4], tuple(e[5]))


def check_collectives(compiler):
    for case in load("collectives.json"):
        shard, train = settings_of(case)
        mine = compiler.dump(case["set"], case["world"], shard, train)
        flat = case["api"] == "fsdp1"
        got, want = (list(events_of(e, flat)) for e in (mine["order"], case["events"]))
        plain = [e for e in events_of(mine["collectives"], flat)]
        same = got == want and plain == [e for e in want if len(e) == 6]
        what = {k: v for k, v in case.items() if k not in ("model", "units", "events", "set")}
        yield f"L={case['set']['L']} " + " ".join(f"{k}={v}" for k, v in what.items()), same


def main():
    compiler = Compiler(*sys.argv[1:3])
    check = {"wrap": check_wrap, "layouts": check_layouts, "rows": check_rows,
             "collectives": check_collectives}
    wrong = cases = 0
    for name, same in check[sys.argv[3]](compiler):
        cases += 1
        if not same:
            wrong += 1
            print("differs:", name)
    print(f"{cases} cases, {wrong} differ")
    return wrong != 0


sys.exit(main())
