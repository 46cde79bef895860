"""Weights for parts.fsd in f32/ and bf16/, the same in the form of whole.fsd in whole/, and invalid
ones in less/."""
import struct

import weights

SHAPES = {"ab": [6, 12], "cd": [12, 6], "experts": [2, 2, 4, 6], "head.weight": [10, 6],
          "one": [4, 6], "two": [6, 6]}


def tensor(shape, values):
    return "F32", shape, struct.pack(f"<{len(values)}f", *values)


def main():
    values, last = {}, 0
    for name, shape in SHAPES.items():
        n = 1
        for size in shape:
            n *= size
        values[name] = [float(last + i) for i in range(n)]
        last += n
    parts = {name: tensor(shape, values[name]) for name, shape in SHAPES.items()}
    small = {name: tensor(shape, [x % 256 for x in values[name]]) for name, shape in SHAPES.items()}
    weights.write("f32/model.safetensors", parts)
    bf16 = {name: weights.rounded(t, "BF16") for name, t in small.items()}
    weights.write("bf16/model.safetensors", bf16)
    ab, cd, experts = values["ab"], values["cd"], values["experts"]
    whole = {"wte.weight": ([10, 6], values["one"] + values["two"]),
             "head.weight": ([10, 6], values["head.weight"])}
    for k in (0, 1):
        whole["ab"[k] + ".weight"] = ([6, 6], [ab[j * 12 + 6 * k + i] for i in range(6)
                                               for j in range(6)])
        rows = [4 * head + 2 * k + row for head in range(3) for row in range(2)]
        whole["cd"[k] + ".weight"] = ([6, 6], [x for r in rows for x in cd[6 * r:6 * r + 6]])
        for e in (0, 1):
            at = 48 * e + 24 * k
            whole[f"{'ef'[k]}.{e}.weight"] = ([4, 6], experts[at:at + 24])
    weights.write("whole/model.safetensors", {k: tensor(*v) for k, v in whole.items()})
    less = {name: t for name, t in parts.items() if name != "ab"}
    less["two"] = ("F32", [3, 12], parts["two"][2])
    weights.write("less/model.safetensors", less)


main()
