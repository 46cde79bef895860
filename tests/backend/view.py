#!/usr/bin/env python3
"""Compares the human view of plans with their complete form: view.py FSDPC MODEL [OPTIONS]...

A second reader: it counts the lines of `dump` and does not know how they are made. For each set of
options (words in one argument) it compiles MODEL and prints whether

- with --all each instruction of --raw has one line, in order, that begins with its op;
- without it each instruction that does something at run time has one, or is counted in a line that
  folds repeated layers;
- the most live memory of all lines is the predicted peak: with the unused space it equals the
  arena, and the parts in the head add up to it;
- no line is longer than 120 columns.
"""
import json
import re
import subprocess
import sys
from collections import Counter

RAW = re.compile(r"^  #(\d+) (?:\[\w+\] )?(?:wait\([^)]*\) )?(?:%.*? = )?([a-z_0-9]+)(?:\(| |$)"
                 r".* live (\d+)$")
LINE = re.compile(r"^#(\d+)\s+(?:(?:after .* ->|\||<- \S+)\s+)*([a-z_0-9]+)")
FOLDED = re.compile(r"^=== \w+ .* as .*: (?:(\d+) x )?(\d+) lines?, #(\d+) \.\. #(\d+);")
SILENT = ("view", "reshape", "state", "set_state")
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def dump(fsdpc, model, options, *more):
    done = subprocess.run([fsdpc, "dump", *more, model, *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def rounded(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def faults(fsdpc, model, options):
    raw = [(int(m[1]), m[2], int(m[3]))
           for m in map(RAW.match, dump(fsdpc, model, options, "--raw").splitlines()) if m]
    everything = dump(fsdpc, model, options, "--all")
    view = dump(fsdpc, model, options)
    peak = json.loads(dump(fsdpc, model, options, "--format=json"))["predicted_peak_bytes"]
    shown = [(int(m[1]), m[2]) for m in map(LINE.match, everything.splitlines()) if m]
    if shown != [(n, op) for n, op, _ in raw] or not raw:
        yield "--all has other instructions than --raw"
    if Counter(op for _, op in shown) != Counter(op for _, op, _ in raw):
        yield "--all names other ops than --raw"

    loud = {n for n, op, _ in raw if op not in SILENT}
    seen, hidden = [], 0
    for line in view.splitlines():
        one, fold = LINE.match(line), FOLDED.match(line)
        if one:
            seen.append(int(one[1]))
        if fold:
            hidden += int(fold[1] or 1) * int(fold[2])
            inside = [n for n in loud if int(fold[3]) <= n <= int(fold[4])]
            if len(inside) != int(fold[1] or 1) * int(fold[2]):
                yield f"{line}: {len(inside)} instructions are there"
    if seen != sorted(set(seen)) or not loud.issuperset(seen):
        yield "a line is there twice, out of order, or does nothing"
    if len(seen) + hidden != len(loud):
        yield f"{len(loud)} instructions, {len(seen)} lines and {hidden} folded"

    most = max(live for _, _, live in raw)
    if min(most, peak["arena"]) != peak["lower_bound"]:
        yield "the most live memory is not that of the peak"
    marked = [line.split(": ")[1].split(" live")[0] for line in everything.splitlines()
              if "==== the peak" in line]
    if len(marked) != 1 or abs(rounded(marked[0]) - most) > most / 150:
        yield f"the peak is marked {marked}, it is {most}"
    lives = [rounded(m[1]) for m in re.finditer(r"^#.* +(\d\S* \w*B)$", everything, re.M)]
    if max(lives) != rounded(marked[0]):
        yield "a line has more live memory than the peak"
    parts = re.findall(r"^  \S.*? +(\d\S* \w*B) +\d+\.\d %", everything, re.M)
    whole = re.search(r"^  together +(\d\S* \w*B)$", everything, re.M)[1]
    error = sum(0.05 * UNITS[p.split()[1]] for p in parts + [whole]) + 1
    if abs(sum(map(rounded, parts)) - rounded(whole)) > error:
        yield "the parts of the peak do not add up"
    if sum(v for k, v in peak["categories"].items() if not k.startswith("work")) != peak["arena"]:
        yield "the categories do not add up to the arena"
    for line in (view + everything).splitlines():
        if len(line) > 120:
            yield f"{len(line)} columns: {line}"


def main():
    wrong = 0
    for options in sys.argv[3:]:
        found = list(faults(sys.argv[1], sys.argv[2], options.split()))
        wrong += bool(found)
        for fault in found[:5]:
            print(f"{options}: {fault}")
    print(f"{len(sys.argv) - 3} plans, {wrong} shown wrongly")
    return wrong != 0


sys.exit(main())
