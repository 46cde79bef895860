#!/usr/bin/env python3
"""Runs a graph of level sched by its streams and edges only, and prints what overlaps.

Each stream runs its list in order; an op starts when the op before it on its stream and all ops
that it waits for are done. A run of work of one unit and phase on stream compute takes 1 in total;
a gather or a reduction takes --comm (default 0: as fast as possible, so that only edges cause
delays) and --element for each element of its results (default 0). Names, views and other
bookkeeping take no time.

For each gather, in issue order: A:unit@run, the run of work that starts with the gather or is in
progress when it starts (F:unit, B:unit; `start` at the program's start). With --time only the time
of the program.
"""
import re
import sys

IDLE = {"state", "set_state", "view", "reshape", "reshard", "free", "pack", "cast"}
COMM = {"unshard", "reduce_scatter", "all_reduce"}
HEAD = re.compile(r"^ *#(\d+) (?:\[(\w+)\] )?(?:wait\(([^)]*)\) )?(?:%[^=]* = )?([a-z]\w*)")


def read(lines, names):
    """Ops as (number, stream, edges, kind, run, unit of a gather, elements of a collective)."""
    for line in lines:
        number, stream, edges, kind = HEAD.match(line).groups()
        phase, unit = re.search(r"!(\w+)(?: unit (\d+))?", line).groups()
        gathered = re.search(r"unshard\(.*\{unit = (\d+)", line)
        sizes = re.findall(r": \w+\[(\d+)\]", line.split(" = ")[0]) if kind in COMM else []
        yield (number, stream or "compute", re.findall(r"\d+", edges or ""), kind,
               phase[0].upper() + ":" + names.get(unit, "-"),
               names[gathered.group(1)] if gathered else None, sum(map(int, sizes)))


def runs(ops):
    """By op: which run of computation it belongs to, and the number of working ops of each run."""
    at, length, order = {}, [], []
    for number, stream, _, kind, run, *_ in ops:
        if stream != "compute" or kind in IDLE:
            continue
        if not order or order[-1] != run:
            order.append(run)
            length.append(0)
        length[-1] += 1
        at[number] = len(order) - 1
    return at, length, order


def simulate(ops, comm, element):
    at, length, order = runs(ops)
    start, end, free = {}, {}, {}
    for number, stream, edges, kind, _, _, elements in ops:
        begin = max([free.get(stream, 0)] + [end[e] for e in edges])
        took = 1 / length[at[number]] if number in at else 0
        took += comm + element * elements if kind in COMM else 0
        start[number], end[number] = begin, begin + took
        free[stream] = end[number]
    working = [(start[n], order[at[n]]) for n, *_ in ops if n in at]
    gathers = []
    for number, _, _, _, _, unit, _ in ops:
        if unit is not None:
            now = [run for begin, run in working if begin <= start[number] + 1e-9]
            gathers.append(f"A:{unit}@{now[-1] if now and start[number] else 'start'}")
    return gathers, max(end.values())


def main():
    comm, element = (float(sys.argv[sys.argv.index(x) + 1]) if x in sys.argv else 0
                     for x in ("--comm", "--element"))
    names, program, lines = {}, None, []
    for line in sys.stdin:
        unit = re.match(r'unit (\d+) "(.*?)"', line)
        if unit:
            names[unit.group(1)] = unit.group(2) or "r"
        elif line.startswith("program"):
            program, lines = line.split()[1], []
        elif line.strip() == "end":
            gathers, time = simulate(list(read(lines, names)), comm, element)
            print(f"{program}:", f"{time:.1f}" if "--time" in sys.argv else " ".join(gathers))
        elif program:
            lines.append(line)


main()
