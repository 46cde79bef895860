#!/usr/bin/env python3
"""What a formula costs when it is written out: tests/bench/written.py [--build DIR] [--steps N]
[NAME..]. For each formula three models are trained, alternately: LAYERS layers of the op that is
made for it, of the formula in .fsd, and none. Prints milliseconds a layer, forward and backward,
of both and their ratio. Device cpu, one rank, one thread; what counts is the processor time of the
shortest of three runs, so that other programs on the machine disturb little."""
import argparse
import pathlib
import resource
import subprocess
import tempfile

LAYERS, D, T, BATCH = 4, 1024, 256, 8

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
  layers : Layer[{most}]
  head : Linear(D, 16)
  forward(ids: [B, T]) {{
    x = wte(ids)
    {loop}
    return head(x)
  }}
}}
model = Net
data {{ train = synthetic_tokens(vocab = 16); length = {T} }}
train {{ loss = cross_entropy(model(inputs), targets); batch = {BATCH}; steps = {steps}
        optimizer = sgd(lr = 0.001) }}
shard {{ mesh = (dp = 1); strategy = none }}
"""


def seconds(build, folder, fields, body, steps):
    """processor time of a run"""
    loop = "for layer in layers { x = layer(x) }" if body else ""
    text = MODEL.format(
        D=D, T=T, BATCH=BATCH, layers=LAYERS, most=LAYERS, steps=steps, loop=loop,
        fields=fields if body else "", body=body or "return x",
    )
    (folder / "m.fsd").write_text(text)
    compile = [build / "fsdpc", "compile", "-q", folder / "m.fsd", "-o", folder / "p"]
    subprocess.run(compile, check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([build / "fsdp-run", "-q", "--threads", "1", folder / "p"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("names", nargs="*", default=[])
    args = parser.parse_args()
    print(f"{'':<12} {'op ms':>8} {'written ms':>11} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in args.names or FORMULAS:
            fields, op, written = FORMULAS[name]
            bodies = {"none": "", "op": op, "written": written}
            times = {key: [] for key in bodies}
            for _ in range(3):
                for key, body in bodies.items():
                    times[key].append(seconds(args.build, folder, fields, body, args.steps))
            none, one, other = (min(times[key]) for key in ("none", "op", "written"))
            one, other = ((t - none) * 1e3 / LAYERS / args.steps for t in (one, other))
            print(f"{name:<12} {one:>8.2f} {other:>11.2f} {other / one:>6.2f}", flush=True)


main()
