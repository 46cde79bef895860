"""What is in a checkpoint, read from the headers of its files alone: tensors by name, as bytes."""
import json
import pathlib
import struct

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
