"""Writes expected.json of parity case mlp-f8e4m3, which is case mlp with shard.gather = f8e4m3.

    make_float8.py        needs torch; writes tests/parity/cases/mlp-f8e4m3/expected.json

PyTorch computes what torchao's tensor-wise float8 all-gather does: with scale = 448 / the largest
|w| of the parameter (at least 1e-12), y = w * scale is clamped to +-448 and cast to
torch.float8_e4m3fn, and the model computes with y * (1 / scale). Biases stay f32. Gradients are
applied to the f32 weights as if nothing had been rounded.

tolerance: the largest difference between results whose matrix products are in f32 and in f64. Both
start from the same f32 weights and round them to the same float8 numbers, unless a weight is so
close to the middle of two float8 numbers that the rounding of a sum decides which one it becomes:
then the two differ in that weight by up to a sixteenth of it.
"""

import json
import pathlib

import numpy
import torch

ROOT = pathlib.Path(__file__).parent / "cases"
STEPS, BATCH, EVAL, LR, MOMENTUM = 20, 64, 256, 0.1, 0.9


def quantized(w):
    scale = 448.0 / w.detach().abs().max().clamp(min=1e-12)
    y = (w.detach() * scale).clamp(-448, 448).to(torch.float8_e4m3fn)
    return y.to(torch.float32) * (1.0 / scale)


def load(path):
    raw = path.read_bytes()
    n = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8 : 8 + n])
    head.pop("__metadata__", None)
    out = {}
    for name, e in head.items():
        a, b = e["data_offsets"]
        flat = numpy.frombuffer(raw[8 + n + a : 8 + n + b], "<f4").reshape(e["shape"])
        out[name] = torch.tensor(flat.copy())
    return out


def read(weights, dtype):
    """What computation reads, as leaves; the gradients of these are the weights' own."""
    of = {k: quantized(w) if w.dim() > 1 else w for k, w in weights.items()}
    return {k: v.detach().to(dtype).requires_grad_() for k, v in of.items()}


def loss_of(p, x, y):
    h = torch.relu(x @ p["fc1.weight"].T + p["fc1.bias"])
    logits = h @ p["fc2.weight"].T + p["fc2.bias"]
    return torch.nn.functional.cross_entropy(logits, y), logits


def train(dtype):
    names = ("train_x", "train_y", "test_x", "test_y")
    data = {k: numpy.load(ROOT / "mlp" / f"{k}.npy") for k in names}
    weights, moment, loss, norm = load(ROOT / "mlp" / "weights.safetensors"), {}, [], []
    grads0 = {}
    for step in range(STEPS):
        at = slice(step * BATCH, (step + 1) * BATCH)
        p = read(weights, dtype)
        x, y = torch.tensor(data["train_x"][at]).to(dtype), torch.tensor(data["train_y"][at])
        value, _ = loss_of(p, x, y.long())
        value.backward()
        loss.append(float(value.detach()))
        norm.append(float(sum(float((q.grad.double() ** 2).sum()) for q in p.values()) ** 0.5))
        for k, w in weights.items():
            g = p[k].grad.to(torch.float32)
            grads0.setdefault(k, g.clone())
            moment[k] = MOMENTUM * moment[k] + g if step else g.clone()
            weights[k] = w - LR * moment[k]
    p = read(weights, dtype)
    x, y = torch.tensor(data["test_x"][:EVAL]).to(dtype), torch.tensor(data["test_y"][:EVAL]).long()
    value, logits = loss_of(p, x, y)
    accuracy = float((logits.argmax(1) == y).double().mean())
    return loss, norm, float(value.detach()), accuracy, grads0, weights


def parameter(name, a, b):
    grad, after = a[4][name], a[5][name]
    at = sorted({int(i) for i in numpy.linspace(0, grad.numel() - 1, 8)})
    return {
        "grad0_at": {str(i): float(grad.flatten()[i]) for i in at},
        "after_at": {str(i): float(after.flatten()[i]) for i in at},
        "grad0_tol": float((grad - b[4][name]).abs().max()),
        "after_tol": float((after - b[5][name]).abs().max()),
    }


def main():
    torch.set_num_threads(1)
    single, double = train(torch.float32), train(torch.float64)
    far = lambda k: max(abs(x - y) for x, y in zip(single[k], double[k]))
    expected = {
        "loss": single[0],
        "grad_norm": single[1],
        "lr": [LR] * STEPS,
        "eval_loss": single[2],
        "eval_accuracy": single[3],
        "tolerance": {
            "loss_abs": far(0),
            "grad_norm_rel": max(abs(x - y) / y for x, y in zip(single[1], double[1])),
            "eval_loss_abs": abs(single[2] - double[2]),
            "grads0_abs": max(float((single[4][k] - double[4][k]).abs().max()) for k in single[4]),
        },
        "parameters": {k: parameter(k, single, double) for k in sorted(single[5])},
    }
    (ROOT / "mlp-f8e4m3" / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    print(json.dumps(expected["tolerance"]))


main()
