"""Copies the sources below runtime/devices/cuda into one folder, with a fault in each of seven
places: planted.py FROM TO. If a place no longer exists, the build fails: choose another."""
import glob
import os
import re
import sys

FAULTS = [
    # sums of columns: nobody waits for the lanes' sums
    ("columns.h", r"(EACH\(j\) sums\[y\]\[x\]\[j\] = sum\.x\[j\];\s*)__syncthreads\(\);", r"\1"),
    # attention: the last tile may still be on its way
    ("attention_matrix.cu", r"copy_wait<1>\(\)", "copy_wait<2>()"),
    # the one-pass backward: nobody waits for who adds first, and products read what is not fenced
    ("attention_onepass.cu", r"if \(mine > 0 && !turn_wait.*", ""),
    ("attention_onepass.cu", r"shared_for_products\(\);(\s*__syncthreads\(\);\s*float dq)", r"\1"),
    # iota: one number behind the end
    ("elementwise.cu", r"(iota_write\((?s:.*?)EACH_ELEMENT\(i, n)\)", r"\1 + 1)"),
    # vectors of sixteen bytes wherever the numbers lie
    ("intrinsics.h", r"width % EIGHT != 0 \|\| \(\(uintptr_t\)p & 15\) != 0", "width % EIGHT != 0"),
    # exact sums: words are added to as if nobody else did
    ("exact.h", r"atomicAdd\((.*word), (.*x)\);", r"*\1 += \2;"),
]

source, target = sys.argv[1:]
os.makedirs(target, exist_ok=True)
for path in sorted(glob.glob(os.path.join(source, "**", "*.*"), recursive=True)):
    name = os.path.basename(path)
    if not name.endswith((".cu", ".h")):
        continue
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for place, old, new in FAULTS:
        if place != name:
            continue
        text, found = re.subn(old, new, text)
        if not found:
            sys.exit(f"planted.py: {name} has no {old}")
    with open(os.path.join(target, name), "w", encoding="utf-8") as f:
        f.write(text)
