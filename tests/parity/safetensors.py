"""Reads .safetensors with only the standard library: {name: Tensor(dtype, shape, values)}. Supports
F32 and BF16, the types of the fixtures and of --save; values are Python floats.
"""

import array
import collections
import json
import struct
import sys

Tensor = collections.namedtuple("Tensor", "dtype shape values")


def load(path):
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(n))
        data = f.read()
    out = {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        raw = data[slice(*t["data_offsets"])]
        if t["dtype"] == "BF16":
            halves = array.array("H", raw)
            raw = b"".join(struct.pack("<I", h << 16) for h in halves)
        elif t["dtype"] != "F32":
            sys.exit(f"{path}: {name} is {t['dtype']}")
        values = array.array("f", raw)
        expected = 1
        for d in t["shape"]:
            expected *= d
        if len(values) != expected:
            sys.exit(f"{path}: {name}: {len(values)} values for shape {t['shape']}")
        out[name] = Tensor(t["dtype"], t["shape"], values)
    return out


def transposed(t):
    rows, columns = t.shape
    v = t.values
    return Tensor(
        t.dtype,
        [columns, rows],
        array.array("f", (v[r * columns + c] for c in range(columns) for r in range(rows))),
    )
