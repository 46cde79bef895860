#!/usr/bin/env python3
"""circles.py BUILD: the circles of files in each room, found by the symbols of their objects: a
line for each circle, with its files in order of name. Files that use each other are really one
file.
"""
import collections
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROOMS = ("ir frontend passes backend foresight tensors checkpoint runtime cpu cuda mpi nccl "
         "tcp").split()


def symbols(objects):
    """(defined, used): by object, the names of its global symbols and of those it takes."""
    defined, used = {}, collections.defaultdict(set)
    lines = subprocess.run(["nm", "-A", "-g", *objects], capture_output=True, text=True, check=True)
    for line in lines.stdout.splitlines():
        name, _, rest = line.partition(":")
        *_, kind, symbol = rest.split()
        if kind in "Uw":
            used[name].add(symbol)
        else:
            defined.setdefault(symbol, name)
    return defined, used


def reached(arrows, start):
    found, todo = set(), [start]
    while todo:
        for other in arrows[todo.pop()] - found:
            found.add(other)
            todo.append(other)
    return found


def circles(objects):
    defined, used = symbols(objects)
    arrows = collections.defaultdict(set)
    for name, symbols_used in used.items():
        arrows[name] = {defined[s] for s in symbols_used if s in defined} - {name}
    reach = {name: reached(arrows, name) for name in objects}
    return {tuple(sorted(o for o in reach[name] if name in reach[o]))
            for name in objects if name in reach[name]}


def objects_of(room):
    """Those whose source is there: a build folder keeps what was compiled before a file went."""
    at = next(f for f in (ROOT / room, *(ROOT / "runtime").glob(f"*/{room}")) if f.is_dir())
    stems = {f.name.split(".")[0] for f in at.rglob("*.*")}
    objects = (pathlib.Path(sys.argv[1]) / room).glob("**/*.o")
    return sorted(str(o) for o in objects if o.name.split(".")[0] in stems)


for room in ROOMS:
    objects = objects_of(room)
    for circle in sorted(circles(objects)) if objects else ():
        print(f"{room}:", *(pathlib.Path(o).stem for o in circle))
