#!/usr/bin/env python3
"""Compares the table of docs/recomputation.md with the plans: activations and the arena of the
predicted peak, whose categories add up to it, and work. Prints the rows that differ, and which
collectives all plans have.

    recompute_table.py FSDPC ROOT
"""
import collections
import json
import re
import subprocess
import sys

GIVEN = ["--preset", "xl", "-n", "8", "-s", "train.batch=8"]


def dump(fsdpc, root, setting, form):
    """Of the plan of a setting: what follows `recompute =`, or the directive of a path."""
    model, options = root + "/models/gpt2.fsd", ["-s", "shard.recompute=" + setting]
    if setting[0] == '"':
        with open("by_path.fsd", "w", encoding="utf-8") as f:
            f.write(f'use "{model}"\nshard {{ {setting} }}\n')
        model, options = "by_path.fsd", []
    done = subprocess.run([fsdpc, "dump", f"--format={form}", *GIVEN, *options, model], check=True,
                          capture_output=True, text=True)
    return done.stdout


def row(fsdpc, root, setting, collectives):
    plan = json.loads(dump(fsdpc, root, setting, "json"))
    peak = plan["predicted_peak_bytes"]
    parts = [n for k, n in peak["categories"].items() if not k.startswith("workspace")]
    assert sum(parts) == peak["arena"], peak
    collectives.add(str(sorted(collections.Counter(c[1] for c in plan["collectives"]).items())))
    again = re.search(r"repeated in backward: (.*?) of the", dump(fsdpc, root, setting, "text"))
    return (f"| `{setting}` | {peak['categories']['activations'] / 2 ** 20:,.0f} "
            f"| {peak['arena'] / 2 ** 20:,.0f} | {again.group(1) if again else '0'} |")


def main():
    fsdpc, root = sys.argv[1:3]
    collectives, rows = set(), 0
    with open(root + "/docs/recomputation.md", encoding="utf-8") as f:
        for line in f:
            setting = re.match(r"\| `(.*?)` \|", line)
            if not setting:
                continue
            rows += 1
            got = row(fsdpc, root, setting.group(1), collectives)
            if got != line.strip():
                print("docs:", line.strip(), "plan:", got, sep="\n")
    print(rows, "rows;", *sorted(collectives))


main()
