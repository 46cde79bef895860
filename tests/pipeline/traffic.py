"""Counts in plans of pipelines what a step sends: messages between stages with their bytes, and how
often each unit is gathered and its gradients reduced. Prints a line for each plan.

    traffic.py FSDPC MODEL
"""
import collections
import re
import subprocess
import sys

from memory import bytes_of

INTERLEAVED = ["shard.pipeline=interleaved", "shard.stages=4"]
HOLD = ["shard.hold=true", "shard.reshard=false"]
CASES = [
    ("pp=2,dp=2", []), ("pp=4,dp=2", []), ("pp=3,dp=2", ["shard.pipeline=gpipe"]),
    ("pp=2,dp=2", INTERLEAVED), ("pp=2,dp=2", ["train.precision=bf16"]),
    ("pp=2,tp=2", []), ("pp=2,dp=2,tp=2", ["shard.rows=false"]), ("pp=2,dp=2,tp=2", INTERLEAVED),
    ("pp=2,dp=2", HOLD), ("pp=4,dp=2", HOLD), ("pp=2,dp=2", ["shard.strategy=grads"] + HOLD),
    ("pp=2,dp=2", ["shard.accumulate=local"]), ("pp=2,dp=2", HOLD + ["shard.accumulate=local"]),
    ("pp=2,dp=2", INTERLEAVED + HOLD + ["shard.accumulate=local"]),
    ("pp=2,dp=4", ["shard.reshard=2"]),
]


def count(raw):
    """By direction: how many messages, and their sizes. By kind and unit: how many collectives."""
    calls, programs = collections.Counter(), {}
    for line in raw.splitlines():
        if at := re.match(r"program (\w+) stage (\d+) (\w+)", line):
            now = programs[at.groups()] = []
        elif re.match(r"  #\d+ ", line):
            now.append(line)
        elif at := re.match(r"call role \d+ step (\w+) times (\d+) stage (\d+) (\w+)", line):
            calls[at[1], at[3], at[4]] += int(at[2])
    sent, sizes, units = collections.Counter(), set(), collections.Counter()
    for key, times in calls.items():
        for line in programs[key]:
            made = dict(re.findall(r"%(\d+): (\w+\[[^]]*\])", "\n".join(programs[key])))
            if at := re.search(r"\bsend\(%(\d+)\) \{index = \d+, stage = (\d+)\}", line):
                sent["forward" if int(at[2]) > int(key[1]) else "back"] += times
                sizes.add(bytes_of(made[at[1]]))
            elif at := re.search(r"\b(unshard|reduce_scatter)\(.*?unit = (\d+), axes = \((.*?)\)",
                                 line):
                kind = "part" if at[3] == "reshard_group" else at[1]
                units[kind, at[2]] += times
    return sent, sizes, units


def shown(units, kind):
    """How often for a unit, and for how many units."""
    found = collections.Counter(n for (what, _), n in units.items() if what == kind)
    return ", ".join("%d x %d units" % (n, many)
                     for n, many in sorted(found.items())) or "none"


def main():
    fsdpc, model = sys.argv[1:]
    for mesh, settings in CASES:
        command = [fsdpc, "dump", "--raw", "--mesh", mesh, model]
        for setting in settings:
            command += ["-s", setting]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode:
            sys.exit(out.stderr)
        sent, sizes, units = count(out.stdout)
        print("%s %s" % (mesh, " ".join(s.split(".")[1] for s in settings)))
        parts = shown(units, "part")
        print("  sends %d forward, %d back, of %s bytes; gathers %s%s; reduces %s"
              % (sent["forward"], sent["back"], " or ".join(str(n) for n in sorted(sizes)),
                 shown(units, "unshard"), "" if parts == "none" else ", of parts " + parts,
                 shown(units, "reduce_scatter")))


if __name__ == "__main__":
    main()
