"""Reads the contents of a checkpoint from the headers of its files, without the manifest: tensors
by name, as bytes."""
import json
import os
import pathlib
import struct

FORM = ["-s", "checkpoint.form=full"] if os.environ.get("FORM") == "full" else []  # for compile
WIDTH = {"F32": 4, "BF16": 2, "F64": 8, "I64": 8}


def box_rows(shape, low, extent):
    """(first element, elements) of each run of the last axis."""
    if not shape:
        yield 0, 1
        return
    stride, strides = 1, []
    for size in reversed(shape):
        strides.insert(0, stride)
        stride *= size
    at = [0] * len(shape)
    while True:
        yield sum((l + a) * s for l, a, s in zip(low, at, strides)), extent[-1]
        k = len(shape) - 2
        while k >= 0 and at[k] + 1 == extent[k]:
            at[k], k = 0, k - 1
        if k < 0:
            return
        at[k] += 1


def tensors(folder):
    folder = pathlib.Path(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    if manifest.get("form") == "full":
        return whole_tensors(folder, manifest)
    shape, found, seen = {}, {}, {}
    for vector in manifest["vectors"]:
        for t in vector["tensors"]:
            shape[t["name"]] = t["shape"]
    names = {f["name"] for f in manifest["files"]}
    assert names | {"manifest.json"} == {f.name for f in folder.iterdir()}
    for name in sorted(names):
        raw = (folder / name).read_bytes()
        length = struct.unpack("<Q", raw[:8])[0]
        assert (8 + length) % 4096 == 0
        header = json.loads(raw[8:8 + length])
        places = json.loads(header.pop("__metadata__")["DCP_SHARDING_INFO"])
        for tensor, entry in header.items():
            width, whole = WIDTH[entry["dtype"]], shape[tensor]
            begin, end = entry["data_offsets"]
            data = raw[8 + length + begin:8 + length + end]
            size = width
            for d in whole:
                size *= d
            to = found.setdefault(tensor, bytearray(size))
            low, at = places[tensor]["saved_offsets"], 0
            for first, n in box_rows(whole, low, entry["shape"]):
                to[first * width:(first + n) * width] = data[at:at + n * width]
                at += n * width
                seen[tensor] = seen.get(tensor, 0) + n * width
            assert at == len(data)
    assert seen == {name: len(data) for name, data in found.items()}, "not each element once"
    assert found.keys() == shape.keys()
    return {name: bytes(data) for name, data in found.items()}


def part_of(t):
    """Of a weight, what lies where as --save has it: (tensor, first, dims, strides, offset)."""
    if "saved_in" in t:
        return [(p["tensor"], p["first"], p["dims"], p["strides"], p["offset"])
                for p in t["saved_in"]]
    below, strides = 1, []
    for d in t["shape"] if t.get("transposed") else []:
        strides.append(below)
        below *= d
    size = 1
    for d in t["shape"]:
        size *= d
    return [(t["saved_as"], 0, t["shape"] if strides else [size], strides or [1], 0)]


def places(dims, strides, offset):
    """of the elements of a part, in their order"""
    found = [offset]
    for d, s in zip(dims, strides):
        found = [at + i * s for at in found for i in range(d)]
    return found


def whole_tensors(folder, manifest):
    """... of form full: each in one file, and nothing between them. Weights as --save has them."""
    raw, entries = {}, {}
    files = {w["name"] for w in manifest["wholes"]}
    others = {f.name for f in folder.iterdir()} - files - {"manifest.json"}
    assert others <= {"config.json", "model.safetensors.index.json"}, others
    for file in manifest["wholes"]:
        text = (folder / file["name"]).read_bytes()
        length = struct.unpack("<Q", text[:8])[0]
        header, at = json.loads(text[8:8 + length]), 0
        assert header.pop("__metadata__") == {"format": "pt"} and len(text) == file["size"]
        for name, entry in sorted(header.items(), key=lambda e: e[1]["data_offsets"]):
            begin, end = entry["data_offsets"]
            assert begin == at and begin % WIDTH[entry["dtype"]] == 0 and name not in raw
            entries[name], at = entry, end
            raw[name] = text[8 + length + begin:8 + length + end]
        assert at == len(text) - 8 - length
    found, used = {}, {name: 0 for name in raw}
    for vector in manifest["vectors"]:
        for t in vector["tensors"]:
            saved = vector["role"] == "param" and manifest.get("turns")
            size = 1
            for d in t["shape"]:
                size *= d
            parts = part_of(t) if saved else [(t["name"], 0, [size], [1], 0)]
            width = WIDTH[entries[parts[0][0]]["dtype"]]
            data = bytearray(size * width)
            for tensor, first, dims, strides, offset in parts:
                for k, at in enumerate(places(dims, strides, offset), first):
                    data[k * width:(k + 1) * width] = raw[tensor][at * width:(at + 1) * width]
                    used[tensor] += width
            assert t["name"] not in found
            found[t["name"]] = bytes(data)
    assert used == {name: len(data) for name, data in raw.items()}, "not each element once"
    return found
