"""Writes the parity case mlp-i8, which is case mlp with shard.gather = i8, computed with numpy.

    make_int8.py          writes tests/parity/cases/mlp-i8

A matrix is sent in blocks of 4096 consecutive weights. With L = the largest |w| of a block (at
least 1e-12) and s = 127 / L, weight w is sent as the integer nearest to w * s, and the model
computes with that integer times 1 / s. The result differs from w by at most L / 254 and four
roundings in f32. fc1.weight has 6144 weights, so its second block is shorter; the weights of that
block are made larger. Biases stay f32. Gradients are applied to the f32 weights as if nothing had
been rounded.

tolerance: the largest difference between results whose matrix products are in f32 and in f64. A
weight in the middle between two integers could be rounded to either. So the script tries SEEDS
seeds and takes the one whose weights stay farthest from such middles.
"""

import json
import pathlib
import sys

import numpy

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).parent / "cases"
HIDDEN, PIXELS, CLASSES, BLOCK, SEEDS = 96, 64, 10, 4096, 300
STEPS, BATCH, EVAL, LR, MOMENTUM = 4, 64, 256, 0.1, 0.9
FLOAT = numpy.float32
margin = 1.0  # the least distance of a rounded number from the middle of two integers


def quantized(w):
    global margin
    out = numpy.empty(w.size, FLOAT)
    for at in range(0, w.size, BLOCK):
        block = w.ravel()[at : at + BLOCK]
        largest = max(numpy.abs(block).max(), FLOAT(1e-12))
        units = block * (FLOAT(127) / largest)
        back = numpy.rint(units) * (FLOAT(1) / (FLOAT(127) / largest))
        assert numpy.abs(back - block).max() <= largest * (1 / 254 + 4 * 2.0**-24)
        margin = min(margin, float(numpy.abs(numpy.abs(units - numpy.floor(units)) - 0.5).min()))
        out[at : at + BLOCK] = back
    return out.reshape(w.shape)


def first_weights(seed):
    r = numpy.random.default_rng(seed)
    fc1 = r.uniform(-0.125, 0.125, (HIDDEN, PIXELS))
    fc1[BLOCK // PIXELS :] *= 3
    return {
        "fc1.weight": fc1.astype(FLOAT),
        "fc1.bias": r.uniform(-0.1, 0.1, HIDDEN).astype(FLOAT),
        "fc2.weight": r.uniform(-0.1, 0.1, (CLASSES, HIDDEN)).astype(FLOAT),
        "fc2.bias": r.uniform(-0.1, 0.1, CLASSES).astype(FLOAT),
    }


def read(weights, dtype):
    return {k: (quantized(w) if w.ndim > 1 else w).astype(dtype) for k, w in weights.items()}


def loss_of(p, x, y):
    """the mean loss, how many are right, and the gradients"""
    h = numpy.maximum(x @ p["fc1.weight"].T + p["fc1.bias"], 0)
    logits = h @ p["fc2.weight"].T + p["fc2.bias"]
    top = logits.max(1, keepdims=True)
    e = numpy.exp(logits - top)
    total = e.sum(1, keepdims=True)
    rows = numpy.arange(len(y))
    losses = numpy.log(total[:, 0]) + top[:, 0] - logits[rows, y]
    d = e / total
    d[rows, y] -= 1
    d /= len(y)
    dh = (d @ p["fc2.weight"]) * (h > 0)
    g = {
        "fc1.weight": dh.T @ x,
        "fc1.bias": dh.sum(0),
        "fc2.weight": d.T @ h,
        "fc2.bias": d.sum(0),
    }
    return float(losses.mean()), float((logits.argmax(1) == y).mean()), g


def train(weights, dtype):
    names = ("train_x", "train_y", "test_x", "test_y")
    data = {k: numpy.load(ROOT / "mlp" / f"{k}.npy") for k in names}
    moment, loss, norm, grads0 = {}, [], [], None
    for step in range(STEPS):
        at = slice(step * BATCH, (step + 1) * BATCH)
        x, y = data["train_x"][at].astype(dtype), data["train_y"][at].astype(int)
        value, _, grads = loss_of(read(weights, dtype), x, y)
        loss.append(value)
        norm.append(float(sum((g.astype("f8") ** 2).sum() for g in grads.values()) ** 0.5))
        grads = {k: g.astype(FLOAT) for k, g in grads.items()}
        grads0 = grads0 or grads
        moment = {k: FLOAT(MOMENTUM) * moment[k] + g if step else g for k, g in grads.items()}
        weights = {k: w - FLOAT(LR) * moment[k] for k, w in weights.items()}
    x, y = data["test_x"][:EVAL].astype(dtype), data["test_y"][:EVAL].astype(int)
    value, accuracy, _ = loss_of(read(weights, dtype), x, y)
    return loss, norm, value, accuracy, grads0, weights


def parameter(name, a, b):
    grad, after = a[4][name].ravel(), a[5][name].ravel()
    at = sorted({int(i) for i in numpy.linspace(0, grad.size - 1, 12)})
    return {
        "grad0_at": {str(i): float(grad[i]) for i in at},
        "after_at": {str(i): float(after[i]) for i in at},
        "grad0_tol": float(numpy.abs(grad - b[4][name].ravel()).max()),
        "after_tol": float(numpy.abs(after - b[5][name].ravel()).max()),
    }


def margin_of(seed):
    global margin
    margin = 1.0
    train(first_weights(seed), numpy.float64)
    return margin


def write_weights(path, weights):
    head, at = {}, 0
    for k, w in weights.items():
        head[k] = {"dtype": "F32", "shape": list(w.shape), "data_offsets": [at, at + w.nbytes]}
        at += w.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    body = b"".join(w.tobytes() for w in weights.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def main():
    seed = max(range(SEEDS), key=margin_of)
    weights = first_weights(seed)
    single, double = train(weights, FLOAT), train(weights, numpy.float64)
    far = lambda k: max(abs(x - y) for x, y in zip(single[k], double[k]))
    grads = max(float(numpy.abs(single[4][k] - double[4][k]).max()) for k in weights)
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
            "grads0_abs": grads,
        },
        "parameters": {k: parameter(k, single, double) for k in sorted(weights)},
    }
    case = json.loads((ROOT / "mlp-f8e4m3" / "case.json").read_text())
    changed = {"hidden=32": f"hidden={HIDDEN}", "train.steps=20": f"train.steps={STEPS}",
               "train.eval_every=20": f"train.eval_every={STEPS}",
               "shard.gather=f8e4m3": "shard.gather=i8"}
    case["name"] = "mlp-i8"
    case["compile_args"] = [changed.get(a, a) for a in case["compile_args"]]
    case["set"]["hidden"] = case["config"]["hidden"] = HIDDEN
    case["steps"] = STEPS
    case["files"]["weights"] = "weights.safetensors"
    case["note"] = "weights of two axes are sent in i8; all is made by tests/parity/make_int8.py"
    folder = ROOT / "mlp-i8"
    write_weights(folder / "weights.safetensors", weights)
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    print(f"seed {seed}, {margin:.1e} of a unit from a middle:", json.dumps(expected["tolerance"]))


main()
