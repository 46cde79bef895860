"""Compares gradients of parameters that the model reads with `as` to difference quotients.

    reshaped.py FSDPC FSDP_RUN

The model is evaluated here, in Python's own floats, from its formulas; the gradients that fsdp-run
writes in its first step are compared with central differences, for every strategy, as one unit and
as several, on 1, 2 and 3 ranks. Ranks and strategies must not change a bit of the losses.
"""

import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import safetensors as st  # noqa: E402

MODEL = """
module Block {
  w : param[4, 3] = normal(0.5)
  b : param[3, 1] = normal(0.5)
  c : param[2, 6] = normal(0.5)
  forward(x) {
    y = silu(linear(x, w as [12] as [3, 4]) + (b as [3]))
    return x + linear(y, c as [2, 2, 3] as [4, 3])
  }
}
module Net {
  first, second : Block
  head : param[4, 2] = normal(0.5)
  free : param[2] = normal(0.5)
  forward(x) = linear(second(first(x)) * 2, head as [8] as [2, 4]) + (free as [2])
}
model = Net
data  { train = npy(x = "x.npy", y = "y.npy") }
train { loss = cross_entropy(model(x), y); batch = 6; steps = 2; optimizer = sgd(lr = 0.1) }
"""
BLOCK = {"w": [4, 3], "b": [3, 1], "c": [2, 6]}
SHAPES = {f"{m}.{k}": s for m in ("first", "second") for k, s in BLOCK.items()}
SHAPES |= {"head": [4, 2], "free": [2]}
SAMPLES, WIDTH, STEP, TOLERANCE = 6, 4, 1e-4, 1e-6


def linear(x, w, rows):
    columns = len(x)
    return [sum(a * w[r * columns + c] for c, a in enumerate(x)) for r in range(rows)]


def block(x, p, name):
    h = [a + b for a, b in zip(linear(x, p[name + ".w"], 3), p[name + ".b"])]
    h = [a / (1 + math.exp(-a)) for a in h]
    return [a + b for a, b in zip(x, linear(h, p[name + ".c"], 4))]


def loss(p, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        x = [2 * a for a in block(block(x, p, "first"), p, "second")]
        logits = [a + b for a, b in zip(linear(x, p["head"], 2), p["free"])]
        total += math.log(sum(map(math.exp, logits))) - logits[y]
    return total / len(xs)


def slope(p, name, i, xs, ys):
    at, ends = p[name][i], []
    for sign in (1, -1):
        p[name][i] = at + sign * STEP
        ends.append(loss(p, xs, ys))
    p[name][i] = at
    return (ends[0] - ends[1]) / (2 * STEP)


def save(name, dtype, shape, values):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    form = {"<f4": "f", "<i4": "i"}[dtype]
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}{form}", *values))


def save_weights(name, shapes, p):
    header, at = {}, 0
    for key, shape in shapes.items():
        end = at + 4 * len(p[key])
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    with open(name, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for key in shapes:
            f.write(struct.pack(f"<{len(p[key])}f", *p[key]))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")


def train(fsdpc, fsdp_run, ranks, policy):
    """Losses, and the gradients of the first step."""
    sets = [part for s in policy for part in ("-s", "shard." + s)]
    run(fsdpc, "compile", "-q", "-n", str(ranks), "net.fsd", "-o", "plan.bin", *sets)
    start = [fsdp_run, "--threads", "1", "--quiet", "--log", "log", "--load", "weights"]
    run(*start, "--dump-grads", "0=grads", "plan.bin")
    with open("log", encoding="utf-8") as f:
        losses = [e["loss"] for e in map(json.loads, f) if e["event"] == "step"]
    os.remove("log")
    return losses, st.load("grads")


def compare(gradients, slopes):
    worst = 0.0
    for name, wanted in slopes.items():
        got = gradients[name].values
        worst = max(worst, *(abs(a - b) for a, b in zip(got, wanted)))
    return worst


def narrow(values):
    """The values as f32 has them."""
    return [struct.unpack("f", struct.pack("f", v))[0] for v in values]


def main():
    fsdpc, fsdp_run = map(os.path.abspath, sys.argv[1:3])
    os.chdir(tempfile.mkdtemp())
    r = random.Random(1)
    xs = [narrow(r.gauss(0, 1) for _ in range(WIDTH)) for _ in range(SAMPLES)]
    ys = [r.randrange(2) for _ in range(SAMPLES)]
    p = {k: narrow(r.gauss(0, 0.5) for _ in range(math.prod(s))) for k, s in SHAPES.items()}
    save("x.npy", "<f4", (SAMPLES, WIDTH), [a for x in xs for a in x])
    save("y.npy", "<i4", (SAMPLES,), ys)
    save_weights("weights", SHAPES, p)
    with open("net.fsd", "w", encoding="utf-8") as f:
        f.write(MODEL)
    slopes = {k: [slope(p, k, i, xs, ys) for i in range(len(p[k]))] for k in p}
    runs, bad = 0, 0
    for ranks in (1, 2, 3):
        first = None
        for strategy in ("full", "grads", "none"):
            for unit in ("root", "Block"):
                policy = [f"strategy={strategy}", f"unit={unit}"]
                losses, gradients = train(fsdpc, fsdp_run, ranks, policy)
                first = first or losses
                runs += 1
                worst = compare(gradients, slopes)
                if worst > TOLERANCE or losses != first:
                    bad += 1
                    print(f"{ranks} ranks, {policy}: off by {worst:.3g}, {losses} for {first}")
    print(f"{runs} runs, {bad} differ")
    return bad != 0


sys.exit(main())
