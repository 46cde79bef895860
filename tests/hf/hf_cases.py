"""Random config.json files of the families in models/hf, against Hugging Face Transformers.

    hf_cases.py check FSDPC FSDP_RUN FIRST COUNT [FAMILY..]   needs torch, transformers, safetensors
    hf_cases.py keys FSDPC FSDP_RUN [FAMILY..]                the same; each key of a config alone
    hf_cases.py record FSDPC FSDP_RUN COUNT FILE              the same; keeps cases for replay
    hf_cases.py replay FSDPC FSDP_RUN FILE [FIRST COUNT]      the standard library is enough

Each case is a folder that from_config(..).save_pretrained(..) wrote, with weights by a formula.
fsdpc imports it; fsdp-run --load computes loss and gradients of one batch, Transformers does the
same in float64, also for the folder that --save writes. The loss must agree within 1e-6, the
gradients within 1e-5 of their norm (or twice what they move by if the weights move by their last
bit), or the import must name the key that it refuses. `keys` takes one config of each family and
gives each key that the class in Transformers has other values of its kind.
"""
import array
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

from random_configs import FAMILIES, make

BATCH, LENGTH = 4, 24
LOSS, GRADIENT = 1e-6, 1e-5
TEXT = "".join(f"{n}\n" for n in range(300)).encode()


# ---- weights by a formula, without torch or numpy

def values(name, shape):
    """Numbers of one tensor: near 1 for norms, near 0 otherwise, never all alike."""
    n = math.prod(shape)
    seed = zlib.crc32(name.encode())
    centre = 1.0 if len(shape) == 1 and "norm" in name.lower() and name.endswith("weight") else 0.0
    wide = 0.4 if len(shape) > 1 else 0.2
    word, out = seed, array.array("f")
    for _ in range(n):
        word = (word * 1664525 + 1013904223) & 0xffffffff
        out.append(centre + wide * ((word >> 8) / 2 ** 24 - 0.5))
    return out


def write_weights(path, shapes):
    header, data, at = {}, [], 0
    for name, shape in shapes.items():
        numbers = values(name, shape)
        size = 4 * len(numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        data.append(numbers.tobytes())
        at += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def header_of(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    header.pop("__metadata__", None)
    return {name: row["shape"] for name, row in header.items()}


# ---- a batch: fields of the model file, and arguments of Transformers' model

def rows(width, first, top):
    return [[(first + 7 * i * i + 3 * j * (i + 1)) % top for j in range(width)]
            for i in range(BATCH)]


def fields_of(folder, family):
    """Names of fields and their rows: ids, or pixels; None for a language model of bytes."""
    if family == "vit":
        config = json.loads((folder / "hub" / "config.json").read_text())
        side, channels = config["image_size"], config["num_channels"]
        return {"image": [[[[(7 * i + 3 * c + x * x + 5 * y) % 23 / 11 - 1 for x in range(side)]
                            for y in range(side)] for c in range(channels)] for i in range(BATCH)],
                "label": [0, 1, 1, 0]}
    if family in ("albert", "bert", "modernbert"):
        # gradients of Transformers are not numbers where a window holds nothing but padding
        pads = [0, 2, 1, 2] if family == "modernbert" else [0, 2, 4, 6]
        seen = [[1] * (LENGTH - n) + [0] * n for n in pads]
        labels = [[word if (i + j) % 4 == 0 and seen[i][j] else -100 for j, word in enumerate(row)]
                  for i, row in enumerate(rows(LENGTH, 5, 60))]
        out = {"inputs": rows(LENGTH, 3, 60), "mask": seen, "labels": labels}
        return out if family == "modernbert" else out | {"segments": rows(LENGTH, 0, 2)}
    if family == "t5":
        return {"source": rows(LENGTH, 3, 60), "target": rows(10, 1, 59), "labels": [
            [word + 1 for word in row] for row in rows(10, 2, 59)]}
    return None


def write_fields(folder, fields):
    for name, flat in fields.items():
        shape = ()
        while isinstance(flat[0], list):
            shape, flat = shape + (len(flat) // math.prod(shape),), [x for row in flat for x in row]
        shape += (len(flat) // math.prod(shape),)
        kind = "f" if isinstance(flat[0], float) else "i"
        head = f"{{'descr': '<{kind}4', 'fortran_order': False, 'shape': {shape}, }}"
        head = head.ljust(117) + "\n"
        flat = array.array(kind, flat)
        (folder / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head))
                                             + head.encode() + flat.tobytes())


# ---- ours

class Refused(Exception):
    pass


def run(*command, cwd):
    return subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)


def ours(fsdpc, fsdp_run, folder, family):
    """Loss, norm of the gradient, for the weights of folder/hub."""
    (folder / "t.txt").write_bytes(TEXT)
    fields = fields_of(folder, family)
    data = ["-s", 'data.train=text("t.txt")', "-s", f"data.length={LENGTH}"]
    if fields:
        write_fields(folder, fields)
        arrays = ", ".join(f'{name} = "{name}.npy"' for name in fields)
        data = ["-s", f"data.train=npy({arrays})", "-s", "data.length=none", "-s", "data.val=none"]
    done = run(fsdpc, "import", "-q", "hub", "-o", "m.fsd", cwd=folder)
    if done.returncode == 1:
        keys = re.findall(r"hub/config.json: ([\w.]+):", done.stderr)
        keys += re.findall(r"(?:support|with) ([\w.]+) = ", done.stderr)
        keys = keys or re.findall(r"does not hold: ([\w., ()]+) must", done.stderr)
        raise Refused(" ".join(keys) or "WITHOUT A KEY " + done.stderr)
    if done.returncode:
        raise SystemExit(f"import: {done.returncode} {done.stderr}")
    done = run(fsdpc, "compile", "-q", "m.fsd", *data, "-s", "data.order=sequential", "-s",
               f"train.batch={BATCH}", "-s", "train.steps=1", "-s", "train.schedule=constant", "-o",
               "p.bin", cwd=folder)
    if done.returncode:
        raise SystemExit(f"compile: {done.stderr}")
    done = run(fsdp_run, "-q", "--threads", "1", "--load", "hub", "--log", "log", "--dump-grads",
               "0=g.safetensors", "p.bin", cwd=folder)
    if done.returncode:
        raise SystemExit(f"fsdp-run: {done.stderr}")
    step = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    step = [e for e in step if e["event"] == "step"][0]
    return step["loss"], step["grad_norm"]


# ---- Transformers

def logits_and_targets(model, folder, family):
    import torch
    fields = fields_of(folder, family)
    if not fields:
        ids = torch.tensor([list(TEXT[LENGTH * i:LENGTH * i + LENGTH + 1]) for i in range(BATCH)])
        return model(ids[:, :-1]).logits, ids[:, 1:]
    at = {name: torch.tensor(table) for name, table in fields.items()}
    if family == "t5":
        return model(input_ids=at["source"], decoder_input_ids=at["target"]).logits, at["labels"]
    if family == "vit":
        return model(pixel_values=at["image"].to(model.dtype)).logits, at["label"]
    more = {"token_type_ids": at["segments"]} if "segments" in at else {}
    return model(input_ids=at["inputs"], attention_mask=at["mask"], **more).logits, at["labels"]


def theirs(folder, family, moved=0, hub="hub"):
    """Loss, norm and gradient of Transformers in float64; moved: a seed to move the weights by."""
    import torch
    import transformers
    from safetensors.torch import load_file
    config = transformers.AutoConfig.from_pretrained(folder / hub)
    kind = getattr(transformers, config.architectures[0])
    model, info = kind.from_pretrained(folder / hub, dtype=torch.float64,
                                       attn_implementation="eager", output_loading_info=True,
                                       experts_implementation="eager")
    if any(info.values()):
        raise SystemExit(f"{folder}: {info}")
    model.train(False)
    random = torch.Generator().manual_seed(moved)
    with torch.no_grad():
        for p in model.parameters() if moved else ():
            p *= 1 + 2 ** -23 * (2 * torch.rand(p.shape, generator=random) - 1)
    logits, targets = logits_and_targets(model, folder, family)
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                                             targets.reshape(-1))
    loss.backward()
    norm = torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters() if p.grad is not None))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.zeros_like(p) if p.grad is None else p.grad)
    model.save_pretrained(folder / "gradients")  # under the names of files, not those in memory
    return loss.item(), norm.item(), load_file(folder / "gradients" / "model.safetensors")


def gradient_error(folder, gradients, norm):
    """The distance of our gradients to theirs, over those that have one name in both, / norm."""
    from safetensors.torch import load_file
    mine = load_file(folder / "g.safetensors")
    shared = [n for n in mine if n in gradients and gradients[n].shape == mine[n].shape]
    total = sum(((mine[n].double() - gradients[n]) ** 2).sum().item() for n in shared)
    return math.sqrt(total) / norm, len(shared), len(mine)


def rounding_error(folder, family, gradients, norm):
    """How far Transformers' gradient moves if the weights move by their last bit: some random
    models amplify rounding, and a relu whose input is about 0 may turn."""
    moved = [theirs(folder, family, seed)[2] for seed in range(1, 9)]
    return max(math.sqrt(sum(((m[n] - g) ** 2).sum().item() for n, g in gradients.items())) / norm
               for m in moved)


# ---- cases

def write_case(folder, family, config):
    import transformers
    kind = getattr(transformers, FAMILIES[family][0])
    model = kind(kind.config_class(**config))
    model.save_pretrained(folder / "hub")
    weights = folder / "hub" / "model.safetensors"
    shapes = header_of(weights)
    write_weights(weights, shapes)
    return shapes


def run_case(fsdpc, fsdp_run, family, seed, config=None):
    """One line about the case, and whether it is right; for record: the case, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            shapes = write_case(folder, family, config or make(family, seed))
        except Exception as error:  # of whatever kind: the model's class refuses the config
            return f"{family} {seed}: Transformers itself refuses it: {error!r:.100}", True, None
        text = (folder / "hub" / "config.json").read_text()
        try:
            loss, norm = ours(fsdpc, fsdp_run, folder, family)
        except Refused as refused:
            case = {"family": family, "seed": seed, "config": json.loads(text),
                    "refused": str(refused)}
            return f"{family} {seed}: refused {refused}", "WITHOUT" not in str(refused), case
        except SystemExit as error:
            return f"{family} {seed}: {error}\n{text}", False, None
        want, their_norm, gradients = theirs(folder, family)
        off, n, of = gradient_error(folder, gradients, their_norm)
        d, dn = abs(loss / want - 1), abs(norm / their_norm - 1)
        limit = GRADIENT
        if off >= limit:
            limit = 2 * rounding_error(folder, family, gradients, their_norm)
        saved = run(fsdp_run, "-q", "--load", "hub", "--steps", "0", "--save", "mine/", "p.bin",
                    cwd=folder)
        same = not saved.returncode and abs(theirs(folder, family, 0, "mine")[0] / want - 1) < 1e-12
        good = d < LOSS and max(dn, off) < limit and n == of and same
        case = {"family": family, "seed": seed, "config": json.loads(text), "shapes": shapes,
                "loss": want, "norm": their_norm}
        line = (f"{family} {seed}: loss {want:.6f} off {d:.1e}, norm {their_norm:.4f} off "
                f"{dn:.1e}, gradients of {n}/{of} off {off:.1e}")
        if not same:
            line += ", SAVED OTHERWISE"
        if limit != GRADIENT:
            line += f", allowed {limit:.1e}"
        return line if good else f"{line} WRONG\n{text}", good, case


def check(fsdpc, fsdp_run, first, count, *families):
    import torch
    torch.set_num_threads(1)
    families = families or sorted(FAMILIES)
    wrong = refused = 0
    for i in range(int(first), int(first) + int(count)):
        line, good, case = run_case(fsdpc, fsdp_run, families[i % len(families)], i)
        wrong += not good
        refused += bool(case and "refused" in case)
        print(line, flush=True)
    print(f"{count} cases, {refused} refused, {wrong} wrong")
    return wrong > 0


def other_values(key, value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, 2 * value]
    if isinstance(value, float):
        return [1.5 * value + 0.125]
    if value is None:
        return [3, 0.5, True]
    if isinstance(value, list):
        return [value[::-1]]
    return ["relu", "relative_key"] if isinstance(value, str) else []


# what names the model, and the token whose row Transformers does not train (docs/hub.md)
NOT_ALONE = {"architectures", "dtype", "model_type", "pad_token_id", "return_dict",
             "transformers_version"}


def keys(fsdpc, fsdp_run, *families):
    import torch
    import transformers
    torch.set_num_threads(1)
    wrong = cases = 0
    for family in families or sorted(FAMILIES):
        kind = getattr(transformers, FAMILIES[family][0]).config_class
        config = next(c for c in (make(family, seed) for seed in range(9)) if
                      "shapes" in (run_case(fsdpc, fsdp_run, family, 0, c)[2] or ()))
        whole = kind(**config).to_dict()
        for key in sorted(set(whole) - NOT_ALONE):
            for value in other_values(key, whole[key]):
                try:
                    line, good, case = run_case(fsdpc, fsdp_run, family, f"{key} = {value}",
                                                config | {key: value})
                except Exception as error:  # what the class took, the model cannot compute
                    line, good, case = f"{family} {key} = {value}: {error!r:.100}", True, None
                cases += case is not None
                wrong += not good
                print(line, flush=True)
    print(f"{cases} cases, {wrong} wrong")
    return wrong > 0


def record(fsdpc, fsdp_run, count, file):
    cases = []
    for i in range(int(count)):
        family = sorted(FAMILIES)[i % len(FAMILIES)]
        line, good, case = run_case(fsdpc, fsdp_run, family, 100000 + i)
        print(line, flush=True)
        if not good:
            return 1
        if case:
            case["config"].pop("transformers_version", None)
            cases.append(case)
    pathlib.Path(file).write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    return 0


def replay(fsdpc, fsdp_run, file, first="0", count="1000000"):
    cases = json.loads(pathlib.Path(file).read_text())[int(first):int(first) + int(count)]
    wrong = refused = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "hub").mkdir()
            (folder / "hub" / "config.json").write_text(json.dumps(case["config"]))
            if "shapes" in case:
                write_weights(folder / "hub" / "model.safetensors", case["shapes"])
            try:
                loss, norm = ours(fsdpc, fsdp_run, folder, case["family"])
                good = ("loss" in case and abs(loss / case["loss"] - 1) < LOSS
                        and abs(norm / case["norm"] - 1) < GRADIENT)
                if not good:
                    print(case["family"], case["seed"], loss, norm, case.get("loss"),
                          case.get("norm"))
            except Refused as error:
                good = str(error) == case.get("refused")
                refused += 1
                if not good:
                    print(case["family"], case["seed"], "refused", error)
            wrong += not good
    print(f"{len(cases)} cases, {refused} refused, {wrong} wrong")
    return wrong > 0


def main():
    what, fsdpc, fsdp_run, *rest = sys.argv[1:]
    fsdpc, fsdp_run = (pathlib.Path(p).resolve() for p in (fsdpc, fsdp_run))
    command = {"check": check, "keys": keys, "record": record, "replay": replay}[what]
    sys.exit(command(fsdpc, fsdp_run, *rest))


if __name__ == "__main__":
    main()
