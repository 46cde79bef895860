"""Compiles one include of every room's header with every room's list of -I, as build.ninja has it,
and prints which ones are refused. argv: build folder."""
import os
import re
import subprocess
import sys

build = sys.argv[1]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with open(os.path.join(root, "build.ninja"), encoding="utf-8") as f:
    rules = dict(re.findall(r"^rule (\w+)\n  command = ((?:.*\$\n)*.*)\n", f.read(), re.M))


def compiles(room, header):
    folders = re.findall(r"-I(\S+)", rules[room])
    flags = ["-I" + folder.replace("$b", build) for folder in folders]
    return subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-x", "c", *flags,
                           "-include", header, "/dev/null"],
                          cwd=root, capture_output=True, check=False).returncode == 0


HEADERS = ("util.h", "op.h", "diag.h", "ir.h", "ast.h", "passes.h", "plan.h", "checkpoint.h",
           "tensors.h", "device.h")
print("          ", *HEADERS)
for room in ("ir", "frontend", "passes", "backend", "checkpoint", "tensors", "runtime", "kernel",
             "device"):
    words = ("yes" if compiles(room, header) else "no" for header in HEADERS)
    print(f"{room:10}", *(f"{word:{len(header)}}" for word, header in zip(words, HEADERS)), sep=" ")
