#!/usr/bin/env python3
"""What a formula costs when it is written out: tests/bench/written.py [--build DIR] [--repeat N]
[NAME..]. For each formula three models are trained, alternately: LAYERS layers of the op that is
made for it, of the formula in .fsd, and none. Prints milliseconds a layer, forward and backward,
of both and their ratio; the shortest step of all repetitions counts. Device cpu, one rank."""
import argparse
import json
import pathlib
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


def shortest(build, folder, fields, body, repeat):
    """milliseconds of the shortest step"""
    loop = "for layer in layers { x = layer(x) }" if body else ""
    text = MODEL.format(
        D=D, T=T, BATCH=BATCH, layers=LAYERS, most=LAYERS, steps=repeat + 1, loop=loop,
        fields=fields if body else "", body=body or "return x",
    )
    (folder / "m.fsd").write_text(text)
    compile = [build / "fsdpc", "compile", "-q", folder / "m.fsd", "-o", folder / "p"]
    subprocess.run(compile, check=True)
    subprocess.run([build / "fsdp-run", "-q", "--log", folder / "log", folder / "p"], check=True)
    steps = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    return min(s["step_ms"] for s in steps if s["event"] == "step")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--repeat", type=int, default=6)
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
                    times[key].append(shortest(args.build, folder, fields, body, args.repeat))
            none, one, other = (min(times[key]) for key in ("none", "op", "written"))
            one, other = (one - none) / LAYERS, (other - none) / LAYERS
            print(f"{name:<12} {one:>8.2f} {other:>11.2f} {other / one:>6.2f}", flush=True)


main()
