"""Prints every comment and head of a test that names a source which does not exist, as FILE:LINE:
NAME. argv: root of the repository. Documentation pages have a test of their own.

A file is named with its last folders or without any (products/tiles.c, tiles.c), a folder with its
full path (runtime/devices/cpu), tests by a prefix of their names. Names with a word in capitals
stand for any file. Not read: code, strings, RUN lines, and names of model files, which users
choose.
"""
import os
import re
import subprocess
import sys

ROOT = sys.argv[1]
BEFORE, AFTER = r"(?<![\w./<>$%{}*~-])", r"\b(?![/*{}(=-]|\.[\w*])"
FILE = re.compile(BEFORE + r"((?:[\w.-]+/)*[\w-]+\.(?:c|h|cu|def|y|l|ninja|py|md))" + AFTER)
FOLDER = re.compile(BEFORE + r"((?:\.ci|[a-z]+)/[\w./-]*\w)")
C = re.compile(r"\.(c|h|cu|def|y|l)$")
READ = re.compile(r"\.(c|h|cu|def|y|l|t|py|ninja|sh)$|/[^.]+$")
OTHERS = {"llm.c"}  # another project


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def prose(name, text):
    """(offset, text) of each part of a file that is not code."""
    if C.search(name):
        text = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: " " * len(m[0]), text)
        parts = re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S)
    elif name.endswith(".t"):
        parts = re.finditer(r"^#(?! [A-Z]+:).*$", text.split("\n==== ")[0], re.M)
    elif name.endswith(".py") or text.startswith("#!/usr/bin/env python3"):
        parts = re.finditer(r'(?:^|(?<= ))# .*$|"""(?:.|\n)*?"""', text, re.M)
    else:
        parts = re.finditer(r"(?:^|(?<= ))# .*$", text, re.M)
    return [(m.start(), m[0]) for m in parts]


def main():
    said = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    files = said.stdout.split()
    tops, known, folders = {f.split("/")[0] for f in files if "/" in f}, set(), set()
    for f in files:
        parts = f.split("/")
        known |= {"/".join(parts[k:]) for k in range(len(parts))}
        folders |= {"/".join(parts[:k]) for k in range(1, len(parts) + 1)}
    for f in files:  # what the build makes
        if f.endswith(".ninja"):
            made = re.findall(r"^build (\S+):", read(f), re.M)
            known |= {os.path.basename(path) for path in made}
    for f in files:
        if f.startswith("tests/fuzz/corpus/") or not READ.search(f):
            continue
        text = read(f)
        for start, part in prose(f, text):
            named = [m for m in FILE.finditer(part) if m[1] not in known]
            named += [m for m in FOLDER.finditer(part) if m[1].split("/")[0] in tops and
                      m[1] not in folders and "." not in os.path.basename(m[1]) and
                      not (m[1].startswith("tests/") and any(x.startswith(m[1]) for x in files))]
            for m in sorted(named, key=lambda m: m.start()):
                if m[1] not in OTHERS and not re.search(r"\b[A-Z]{2}", m[1]):
                    print(f"{f}:{text.count(chr(10), 0, start + m.start()) + 1}: {m[1]}")


main()
