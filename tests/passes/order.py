#!/usr/bin/env python3
"""Reads a graph in text form and prints, one line per program, the order in which it is issued:

  A:u unshard   F:u forward   B:u backward   U update   R:u reduce_scatter   S:u all_reduce of a
  gradient      M all_reduce of metrics     |  border of forward and backward

u is the unit's name, r the root; `-` if an op has no unit. With --memory reshards and frees are
printed too, as X:u and D:u; with --copies frees and I:u fetch, O:u evict; with --live the largest
number of non-root units between their unshard and their reshard; with --counts only the number of
each collective. --compute prints all other ops instead, one per line, without the numbers.
"""
import re
import sys
from collections import Counter

COLLECTIVES = ("unshard", "reduce_scatter", "all_reduce")
SILENT = {"state", "set_state", "cast", "view", "pack", "accumulate", "metric_add", "field", "iota"}
WORDS = {"unshard": "A", "reduce_scatter": "R", "reshard": "X", "free": "D", "fetch": "I",
         "evict": "O"}
COPIES = ("fetch", "evict", "free")


def op_of(line):
    text = re.sub(r"^ *#\d+ (\[\w+\] )?(wait\([^)]*\) )?", "", line)
    return re.search(r"(?:^|= )([a-z]\w*)", text).group(1)


def events(lines, names, shown):
    place = border = None
    for line in lines:
        op = op_of(line)
        phase = re.search(r"!(\w+)", line).group(1)
        unit = re.search(r"[{ ]unit = (-?\d+)", line) or re.search(r"!\w+ unit (\d+)", line)
        unit = names.get(unit.group(1), "-") if unit else "-"
        if border != "backward" and phase == "backward":
            border = phase
            yield "|"
        if op == "all_reduce":
            yield "M" if "tag = metric" in line else "S:" + unit
        elif op in WORDS:
            if op in COLLECTIVES + shown:
                yield WORDS[op] + ":" + unit
        elif op not in SILENT and place != (phase, unit):
            place = phase, unit
            yield "U" if phase == "update" else phase[0].upper() + ":" + unit


def most_live(found):
    live, most = Counter(), 0
    for event in found:
        if event[0] == "A" and event != "A:r":
            live[event[2:]] += 1
        if event[0] == "X":
            live[event[2:]] = 0
        most = max(most, sum(live.values()))
    return most


def main():
    options = set(sys.argv[1:])
    names, program, lines = {}, None, []
    for line in sys.stdin:
        unit = re.match(r'unit (\d+) "(.*?)"', line)
        if unit:
            names[unit.group(1)] = unit.group(2) or "r"
        elif line.startswith("program"):
            program, lines = line.split()[1], []
        elif line.strip() == "end":
            shown = ("reshard", "free") if options & {"--memory", "--live"} else ()
            found = list(events(lines, names, COPIES if "--copies" in options else shown))
            if "--compute" in options:
                for op, line in ((op_of(line), line) for line in lines):
                    if op not in ("unshard", "cast"):
                        print(program, op, re.search(r"!(\w+ .*?)(?: \d+:.*)?$", line).group(1))
            elif "--live" in options:
                print(f"{program}: {most_live(found)} alive")
            elif "--counts" in options:
                count = Counter(e[0] for e in found)
                print(f"{program}:", *(f"{count[k]} {k}" for k in "ARSM" if count[k]))
            else:
                print(f"{program}:", *found)
        elif program:
            lines.append(line)


main()
