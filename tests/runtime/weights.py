"""Weights files for tests, with only the standard library: {name: (dtype, shape, bytes)}.

    weights.py show PATH...    of each file, index or folder: names, dtypes, shapes and a hash
"""
import hashlib
import json
import pathlib
import struct
import sys


def read(path):
    """A file, or all files of a folder."""
    path = pathlib.Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.safetensors"))
        return {name: t for file in files for name, t in read(file).items()}
    raw = path.read_bytes()
    (n,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8 : 8 + n])
    head.pop("__metadata__", None)
    data = raw[8 + n :]
    return {k: (v["dtype"], v["shape"], data[slice(*v["data_offsets"])]) for k, v in head.items()}


def write(path, tensors):
    head, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        offsets = [len(data), len(data) + len(raw)]
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        data += raw
    text = json.dumps(head).encode()
    path = pathlib.Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_sharded(folder, tensors, n):
    """n files and their index, tensors dealt out in turn."""
    names, where = list(tensors), {}
    for i in range(n):
        file = f"model-{i + 1:05}-of-{n:05}.safetensors"
        write(f"{folder}/{file}", {name: tensors[name] for name in names[i::n]})
        where.update(dict.fromkeys(names[i::n], file))
    size = sum(len(t[2]) for t in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": where}
    pathlib.Path(folder, "model.safetensors.index.json").write_text(json.dumps(index))


def rounded(tensor, dtype):
    """An F32 tensor as F16 or BF16 (its bytes cut: for values that are exact there)."""
    values = struct.unpack(f"<{len(tensor[2]) // 4}f", tensor[2])
    if dtype == "F16":
        return dtype, tensor[1], struct.pack(f"<{len(values)}e", *values)
    return dtype, tensor[1], b"".join(struct.pack("<f", v)[2:] for v in values)


if __name__ == "__main__":
    for path in sys.argv[2:]:
        for name, (dtype, shape, raw) in sorted(read(path).items()):
            print(name, dtype, shape, hashlib.sha256(raw).hexdigest()[:8])
