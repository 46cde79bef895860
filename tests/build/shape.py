"""Prints every source that exceeds the limits of the house style: files over 600 lines, functions
over 80, lines over 100 columns (tables with one row per line may be longer), folders of more than
25 sources outside of tests, a README of 120 lines or more. argv: repository.

A function begins at the margin with a parameter list and ends with a brace at the margin; tables
are not functions."""
import os
import re
import sys

ROOMS = ("ir", "frontend", "passes", "backend", "foresight", "checkpoint", "tensors", "runtime",
         "tests")
LISTS = {"tests/kernels/cases.c", "ir/ops/ops.def"}  # each is one list
ENDINGS = (".c", ".h", ".l", ".y", ".cu", ".cuh", ".def", ".py")
COLUMNS = {".def": 160, ".y": 120, ".l": 120}


def functions(lines):
    """(name, first line, last line), lines from 1."""
    start, name = None, None
    for number, line in enumerate(lines, 1):
        if start is None:
            match = re.match(r"[A-Za-z_][\w *]*?(\w+)\(", line)
            if match and not line.endswith(";") and not line.startswith(("typedef", "#")):
                start, name = number, match[1]
        elif line.endswith(";") and not line.startswith((" ", "\t")) and line != "};":
            start = None
        elif re.match(r"[^ \t}]", line) and re.match(r"[A-Za-z_][\w *]*?(\w+)\(", line):
            start, name = number, re.match(r"[A-Za-z_][\w *]*?(\w+)\(", line)[1]
        elif line == "}":
            yield name, start, number
            start = None


root = sys.argv[1]
for room in ROOMS:
    for folder, folders, files in sorted(os.walk(os.path.join(root, room))):
        folders[:] = sorted(f for f in folders if f != "corpus")
        sources = [f for f in files if f.endswith(ENDINGS)]
        if room != "tests" and len(sources) > 25:
            print(f"{os.path.relpath(folder, root)}: {len(sources)} sources")
        for file in sorted(files):
            if not file.endswith(ENDINGS) and file != "run":
                continue
            path = os.path.relpath(os.path.join(folder, file), root)
            with open(os.path.join(folder, file), encoding="utf-8", errors="replace") as f:
                lines = f.read().split("\n")[:-1]
            if len(lines) > 600 and path not in LISTS:
                print(f"{path}: {len(lines)} lines")
            width = COLUMNS.get(os.path.splitext(file)[1], 100)
            for number, line in enumerate(lines, 1):
                if len(line) > width:
                    print(f"{path}:{number}: {len(line)} columns")
            if not file.endswith((".c", ".cu")):
                continue
            for name, first, last in functions(lines):
                if last - first + 1 > 80:
                    print(f"{path}:{first}: function {name} has {last - first + 1} lines")
with open(os.path.join(root, "README.md"), encoding="utf-8") as f:
    length = len(f.readlines())
if length >= 120:
    print(f"README.md: {length} lines; what a first reader can do without belongs into docs/")
