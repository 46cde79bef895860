"""Trains a pipeline with --profile and compares the idle time of each stage in the table with that
of the trace: the time in which a rank waited for other stages, in messages or in sums over stages,
while none of its other instructions was under way; of the rank that waited longest, without the
first call of each program. Prints the stages, and what differs.

    idle.py FSDPC FSDP_RUN PLAN [OPTION ...]
"""
import collections
import glob
import json
import re
import subprocess
import sys


def instructions_of(raw):
    """By instruction: its program's place, its stage, and whether it waits for other stages."""
    found, program, stage = {}, -1, 0
    for line in raw.splitlines():
        if at := re.match(r"program \w+ stage (\d+)", line):
            program, stage = program + 1, int(at[1])
        elif at := re.match(r"  #(\d+) ", line):
            waits = re.search(r"\b(send|receive)\b[^:]* \{index = |axes = \(pp", line)
            found[int(at[1])] = program, stage, bool(waits)
    return found


def union(spans):
    """Disjoint, in order."""
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def length(spans):
    return sum(end - begin for begin, end in union(spans))


def idle_of_trace(events, instructions):
    """Milliseconds by stage."""
    calls = collections.defaultdict(lambda: ([], []))
    for e in events:
        if e["ph"] == "X":
            program, stage, waits = instructions[e["args"]["instruction"]]
            key = e["pid"], program, stage, e["args"]["call"]
            calls[key][waits].append((e["ts"], e["ts"] + e["dur"]))
    idle, seen = collections.Counter(), set()
    for (rank, program, stage, _), (busy, waits) in sorted(calls.items()):
        if (rank, program) in seen:
            idle[rank, stage] += length(busy + waits) - length(busy)
        seen.add((rank, program))
    most = collections.Counter()
    for (_, stage), time in idle.items():
        most[stage] = max(most[stage], time / 1000)
    return most


def main():
    fsdpc, fsdp_run, plan, *options = sys.argv[1:]
    raw = subprocess.run([fsdpc, "dump", "--raw", plan], capture_output=True, text=True, check=True)
    command = [fsdp_run, "--profile", "trace.json", *options, plan]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    events = [e for name in glob.glob("trace.json*") for e in json.load(open(name))["traceEvents"]]
    idle = idle_of_trace(events, instructions_of(raw.stdout))
    table = out.stdout.split("\nstage ")[1]
    rows = re.findall(r"^(\d+) +(\d+) +([\d.]+) +([\d.]+)% +([\d.]+)$", table, re.M)
    for stage, calls, total, share, shown in rows:
        time, shown, total = idle[int(stage)], float(shown), float(total)
        print("stage", stage, "calls", calls, "idle" if time > 0 else "never idle")
        if abs(time - shown) > 0.01 or abs(100 * shown / total - float(share)) > 0.1:
            print("trace %.3f ms, table %.3f ms of %.3f, %s %%" % (time, shown, total, share))


if __name__ == "__main__":
    main()
