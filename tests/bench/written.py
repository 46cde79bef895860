#!/usr/bin/env python3
"""The cost of writing out a formula: tests/bench/written.py [--build DIR] [--steps N] [NAME..].

For each formula three models are trained alternately: LAYERS layers of the op that computes it, of
the formula in .fsd, and of neither; between layers an axis is transposed, which is never fused into
a formula, since real models have products there. Prints milliseconds per layer, forward and
backward, of both, their ratio, and the MiB that a layer keeps after a product: activations of
LAYERS layers minus those of half as many. With --base DIR also those of another build, alternating
with this one. Device cpu, one rank, one thread; the processor time of the shortest of --runs runs
counts, so that other programs on the machine matter little."""
import argparse
import json
import pathlib
import resource
import subprocess
import tempfile

LAYERS, D, T, BATCH = 16, 1024, 256, 8

# name: (fields, the op, the formula); bodies return a tensor of x's shape
FORMULAS = {
    "rms_norm": (
        "w : param[D] = ones",
        "return rms_norm(x, w, eps = 1e-6)",
        "return x * rsqrt(mean(x * x, axis = -1) + 1e-6) * w",
    ),
    "layer_norm": (
        "w, b : param[D] = ones",
        "return layer_norm(x, w, b, eps = 1e-5)",
        "c = x - mean(x, axis = -1); return c * rsqrt(mean(c * c, axis = -1) + 1e-5) * w + b",
    ),
    "softmax": (
        "",
        "return softmax(x)",
        "e = exp(x - max(x, axis = -1)); return e / sum(e, axis = -1)",
    ),
    "swiglu": (
        "w : param[D] = ones",
        "return silu(x) * (x * w)",
        "return x * sigmoid(x) * (x * w)",
    ),
    "geglu": (
        "w : param[D] = ones",
        "return gelu(x, approx = tanh) * (x * w)",
        "g = 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))); return g * (x * w)",
    ),
    "rotary": (
        "",
        "return rope(x as [B, T, H, h]) as [B, T, D]",
        "a, b = split(x as [B, T, H, 2, h // 2], axis = 3)\n"
        "    t = (iota(T) as [T, 1, 1]) * exp(iota(h // 2) * (-9.210340372 * 2 / h))\n"
        "    return stack(a * cos(t) - b * sin(t), b * cos(t) + a * sin(t), axis = 3) as [B, T, D]",
    ),
    "halves": (
        "",
        "return rope(x as [B, T, H, h]) as [B, T, D]",
        "q = x as [B, T, H, h]\n"
        "    t = (iota(T) as [T, 1, 1]) * exp(iota(h // 2) * (-9.210340372 * 2 / h))\n"
        "    e = concat(t, t, axis = 2)\n"
        "    turned = concat(-q[:, :, :, h // 2 :], q[:, :, :, : h // 2], axis = 3)\n"
        "    return (q * cos(e) + turned * sin(e)) as [B, T, D]",
    ),
    "neighbours": (
        "",
        "return rope(x as [B, T, H, h], interleaved = true) as [B, T, D]",
        "a, b = split(x as [B, T, H, h // 2, 2], axis = 4)\n"
        "    t = (iota(T) as [T, 1, 1]) * exp(iota(h // 2) * (-9.210340372 * 2 / h))\n"
        "    return stack(a * cos(t) - b * sin(t), b * cos(t) + a * sin(t), axis = 4) as [B, T, D]",
    ),
}
MODEL = """config {{ D = {D}; H = 16; h = 64; L = {layers} }}
module Layer {{
  {fields}
  forward(x: [B, T, D]) {{ {body} }}
}}
module Net {{
  wte : Embedding(16, D)
  layers : Layer[L]
  head : Linear(D, 16)
  forward(ids: [B, T]) {{
    x = wte(ids)
    for layer in layers {{ x = layer(transpose(x as [B, T, H, h], [0, 1, 3, 2]) as [B, T, D]) }}
    return head(x)
  }}
}}
model = Net
data {{ train = synthetic_tokens(vocab = 16); length = {T} }}
train {{ loss = cross_entropy(model(inputs), targets); batch = {BATCH}; steps = {steps}
        optimizer = sgd(lr = 0.001) }}
shard {{ mesh = (dp = 1); strategy = none }}
"""


def compiled(build, folder, fields, body, steps, layers):
    """the plan, and what activations have of its peak"""
    text = MODEL.format(D=D, T=T, BATCH=BATCH, layers=layers, steps=steps, fields=fields, body=body)
    (folder / "m.fsd").write_text(text)
    plan = folder / "p"
    subprocess.run([build / "fsdpc", "compile", "-q", folder / "m.fsd", "-o", plan], check=True)
    dump = subprocess.run([build / "fsdpc", "dump", "--format=json", plan], check=True,
                          capture_output=True)
    peak = json.loads(dump.stdout)["predicted_peak_bytes"]
    return plan, peak["categories"]["activations"]


def seconds(build, folder, fields, body, steps):
    """processor time of a run"""
    plan, _ = compiled(build, folder, fields, body, steps, LAYERS)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([build / "fsdp-run", "-q", "--threads", "1", plan], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mebibytes(build, folder, fields, body):
    """that a layer keeps after a product, besides the product's operand"""
    fields += "\n  fc : Linear(D, D)"
    body = "x = fc(x)\n    " + body
    peaks = [compiled(build, folder, fields, body, 1, n)[1] for n in (LAYERS // 2, LAYERS)]
    return (peaks[1] - peaks[0]) / (LAYERS - LAYERS // 2) / 2**20 - D * T * BATCH * 4 / 2**20


def measure(builds, folder, name, steps, runs):
    """by build: milliseconds per layer of the op and of the formula, and MiB of both"""
    fields, op, written = FORMULAS[name]
    bodies = {"none": "return x", "op": op, "written": written}
    times = {(build, key): [] for build in builds for key in bodies}
    for _ in range(runs):
        for build, key in times:
            needed = fields if key != "none" else ""
            times[build, key].append(seconds(build, folder, needed, bodies[key], steps))
    rows = []
    for build in builds:
        least = {key: min(times[build, key]) for key in bodies}
        rows.append([(least[key] - least["none"]) * 1e3 / LAYERS / steps
                     for key in ("op", "written")]
                    + [mebibytes(build, folder, fields, body) for body in (op, written)])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--base", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("names", nargs="*", default=[])
    args = parser.parse_args()
    builds = [b for b in (args.base, args.build) if b]
    print(f"{'':<17} {'op ms':>7} {'written ms':>11} {'ratio':>6} {'op MiB':>8} "
          f"{'written MiB':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or FORMULAS:
            rows = measure(builds, pathlib.Path(folder), name, args.steps, args.runs)
            for build, (op, written, small, large) in zip(builds, rows):
                label = name + (" (base)" if build == args.base else "")
                print(f"{label:<17} {op:>7.2f} {written:>11.2f} {written / op:>6.2f} "
                      f"{small:>8.1f} {large:>12.1f}", flush=True)


main()
