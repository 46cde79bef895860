"""Prints, for each room, the rooms whose headers it may include: those that the compiler finds with
the -I list of the room's rule. Then violations: a folder that a rule names although no file of
the room needs it, and rooms that include each other in a circle. argv: build folder."""
import glob
import os
import re
import subprocess
import sys

build = sys.argv[1]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.chdir(root)
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def rooms_of(pattern):
    return {os.path.dirname(path) for path in glob.glob(pattern, recursive=True)}


files = ["build.ninja"] + sorted(glob.glob("[a-z]*/**/*.ninja", recursive=True))
text = "".join(re.sub(r"\$\n\s*", "", read(f)) for f in files
               if not f.startswith(("tests", "build/")))
variables = dict(re.findall(r"^(\w+) = (.*)$", text, re.M))
commands = dict(re.findall(r"^rule (\S+)\n  command = (.*)$", text, re.M))
TOP = ("ir", "frontend", "passes", "backend", "foresight", "checkpoint", "tensors", "runtime")
together = {name: sources.split()  # sources that are compiled as one
            for name, sources in re.findall(r"^build (\S+): together (.*)$", text, re.M)}
room_rules = {}  # by room, the rules that compile it, each with what its build lines set
for rule, named, lines in re.findall(
        r"^build \S+: (?!together)(\S+) (\S+\.(?:c|cu))\b.*\n((?:  .*\n)*)", text, re.M):
    sets = tuple(re.findall(r"^  (\w+) = (.*)$", lines, re.M))
    for source in together.get(named, [named]):
        if source.split("/")[0] in TOP:
            room_rules.setdefault(os.path.dirname(source), {}).setdefault(rule, set()).add(sets)
headers = {}  # by room, of every folder of the project but tests
for top in TOP:
    for pattern in ("h", "def"):
        for path in glob.glob(f"{top}/**/*.{pattern}", recursive=True):
            headers.setdefault(os.path.dirname(path), []).append(os.path.basename(path))


def folders_of(rule, lines):
    """The -I list of a rule, with what its build lines set."""
    command = " ".join(re.sub(r"\$(\w+)", lambda m: dict(sets).get(m[1], m[0]), commands[rule])
                       for sets in sorted(lines))
    while re.search(r"\$(\w+)", command):
        command = re.sub(r"\$(\w+)", lambda m: build if m[1] == "b" else variables.get(m[1], ""),
                         command)
    return list(dict.fromkeys(re.findall(r"-I(\S+)", command)))


def found(folders, names):
    """Which of the headers the compiler finds."""
    asked = "".join(f'#if __has_include("{name}")\n{i}\n#endif\n' for i, name in enumerate(names))
    out = subprocess.run(["gcc", "-E", "-P", *("-I" + f for f in folders), "-"], input=asked,
                         text=True, capture_output=True, check=True).stdout
    return {names[int(i)] for i in out.split()}


def copied(folder):
    return os.listdir(folder) if folder.startswith(build) and os.path.isdir(folder) else []


def used_folders(room, folders):
    """The folders out of which the files of the room include something, headers' own included."""
    used, seen = set(), set()
    todo = [p for e in ("c", "h", "cu", "y", "l", "def") for p in glob.glob(f"{room}/*.{e}")]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in INCLUDE.findall(read(path)):
            where = [os.path.dirname(path)] + [f for f in folders if f != os.path.dirname(path)]
            for folder in where:
                if os.path.exists(f"{folder}/{name}"):
                    used.add(folder)
                    todo.append(f"{folder}/{name}")
                    break
    return used


complaints, arrows = [], {}
for room in sorted(room_rules):
    for rule in sorted(room_rules[room]):
        folders = folders_of(rule, room_rules[room][rule])
        may = []
        for other in sorted(headers):
            if other == room:
                continue
            names = [n for n in headers[other] if not any(n in copied(f) for f in folders)]
            if names and other in folders and found([other], names):
                may.append(other)
        if any(copied(f) for f in folders):
            may.append("copies")
        label = room if len(room_rules[room]) == 1 else f"{room} ({rule})"
        print(f"{label}: {' '.join(may)}")
        used = used_folders(room, folders)
        arrows.setdefault(room, set()).update(u for u in used if u in headers and u != room)
        complaints += [f"{label} names {f} without need" for f in folders
                       if f not in used and f not in (room, ".") and not f.startswith("tests")]


def reaches(start, goal):
    seen, todo = set(), list(arrows.get(start, ()))
    while todo:
        one = todo.pop()
        if one == goal:
            return True
        if one not in seen:
            seen.add(one)
            todo += arrows.get(one, ())
    return False


circles = {tuple(sorted(r for r in arrows if r == one or reaches(one, r) and reaches(r, one)))
           for one in arrows}
complaints += ["circle: " + " ".join(c) for c in sorted(circles) if len(c) > 1]
print("\n".join(complaints))
