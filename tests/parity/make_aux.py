"""Writes the parity cases aux and aux-accumulate, whose losses have aux(..) terms.

    make_aux.py        needs torch; writes case.json and expected.json of both cases

PyTorch computes the formulas of cases/aux/aux.fsd. A step sees the whole batch at once, so its
results hold for any number of ranks. They hold for any number of micro-batches, too, if each has
equally many targets, which is so in aux-accumulate, where no target is skipped.

tolerance: the largest difference between the results in f32 and in f64.
"""

import json
import pathlib

import numpy
import torch

ROOT = pathlib.Path(__file__).parent / "cases"
STEPS, BATCH, EVAL_STEPS, LR, MOMENTUM = 20, 64, 4, 0.1, 0.9
NAMES = ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")


def load(path):
    raw = path.read_bytes()
    n = int.from_bytes(raw[:8], "little")
    out = {}
    for name, e in json.loads(raw[8 : 8 + n]).items():
        if name != "__metadata__":
            a, b = (8 + n + k for k in e["data_offsets"])
            out[name] = torch.tensor(numpy.frombuffer(raw[a:b], "<f4").reshape(e["shape"]).copy())
    return out


def loss_of(p, x, y, skipped):
    h = torch.relu(x @ p["fc1.weight"].T + p["fc1.bias"])
    logits = h @ p["fc2.weight"].T + p["fc2.bias"]
    loss = torch.nn.functional.cross_entropy(logits, y, ignore_index=skipped)
    loss = loss + 0.05 * (h * h).mean()
    loss = loss + 0.02 * (logits.logsumexp(-1) ** 2).mean()
    loss = loss + 0.01 * (0.5 * h.abs().sum() / 2048 - 2 * logits.sum(-1).mean())
    return loss + 0.03 * (p["fc2.weight"] ** 2).sum()


def evaluation(p, data, dtype, skipped):
    """Steps of a batch each, weighed by their targets."""
    total = count = 0.0
    for k in range(EVAL_STEPS):
        at = slice(k * BATCH, (k + 1) * BATCH)
        y = torch.tensor(data["test_y"][at]).long()
        n = int((y != skipped).sum())
        total += n * float(loss_of(p, torch.tensor(data["test_x"][at]).to(dtype), y, skipped))
        count += n
    return total / count


def train(dtype, skipped):
    names = ("train_x", "train_y", "test_x", "test_y")
    data = {k: numpy.load(ROOT / "mlp" / f"{k}.npy") for k in names}
    weights = load(ROOT / "mlp" / "weights.safetensors")
    p = {k: v.to(dtype).requires_grad_() for k, v in weights.items()}
    opt = torch.optim.SGD(p.values(), lr=LR, momentum=MOMENTUM)
    loss, norm, grads0 = [], [], None
    for step in range(STEPS):
        at = slice(step * BATCH, (step + 1) * BATCH)
        y = torch.tensor(data["train_y"][at]).long()
        value = loss_of(p, torch.tensor(data["train_x"][at]).to(dtype), y, skipped)
        opt.zero_grad()
        value.backward()
        loss.append(float(value.detach()))
        norm.append(float(sum((q.grad.double() ** 2).sum() for q in p.values()) ** 0.5))
        grads0 = grads0 or {k: q.grad.clone() for k, q in p.items()}
        opt.step()
    with torch.no_grad():
        return loss, norm, evaluation(p, data, dtype, skipped), grads0, p


def parameter(name, a, b):
    grad, after = a[3][name], a[4][name].detach()
    at = sorted({int(i) for i in numpy.linspace(0, grad.numel() - 1, 8)})
    return {
        "grad0_at": {str(i): float(grad.flatten()[i]) for i in at},
        "after_at": {str(i): float(after.flatten()[i]) for i in at},
        "grad0_tol": float((grad - b[3][name]).abs().max()),
        "after_tol": float((after - b[4][name].detach()).abs().max()),
    }


def expected(skipped):
    single, double = train(torch.float32, skipped), train(torch.float64, skipped)
    return {
        "loss": single[0],
        "grad_norm": single[1],
        "lr": [LR] * STEPS,
        "eval_loss": single[2],
        "tolerance": {
            "loss_abs": max(abs(x - y) for x, y in zip(single[0], double[0])),
            "grad_norm_rel": max(abs(x - y) / y for x, y in zip(single[1], double[1])),
            "eval_loss_abs": abs(single[2] - double[2]),
            "grads0_abs": max(float((single[3][k] - double[3][k]).abs().max()) for k in NAMES),
        },
        "parameters": {k: parameter(k, single, double) for k in NAMES},
    }


def case(name, skipped, accumulate):
    settings = {
        "skipped": skipped,
        "data.train": 'npy(x = "../mlp/train_x.npy", y = "../mlp/train_y.npy")',
        "data.val": 'npy(x = "../mlp/test_x.npy", y = "../mlp/test_y.npy")',
        "data.order": "sequential",
        "train.batch": BATCH,
        "train.steps": STEPS,
        "train.accumulate": accumulate,
        "train.optimizer": f"sgd(lr = {LR}, momentum = {MOMENTUM})",
        "train.eval_every": STEPS,
        "train.eval_steps": EVAL_STEPS,
        "train.precision": "f32",
    }
    return {
        "name": name,
        "model": "aux.fsd" if name == "aux" else "../aux/aux.fsd",
        "compile_args": [x for k, v in settings.items() for x in ("-s", f"{k}={v}")],
        "batch": BATCH,
        "steps": STEPS,
        "eval_steps": EVAL_STEPS,
        "accumulate": accumulate,
        "optimizer": {"name": "sgd", "lr": LR, "momentum": MOMENTUM},
        "note": "terms of aux; expected.json is by tests/parity/make_aux.py",
        "files": {"weights": "../mlp/weights.safetensors"},
        "frozen": [],
        "checkpoint_names": {k: k for k in NAMES},
    }


def main():
    torch.set_num_threads(1)
    for name, skipped, accumulate in (("aux", 3, 1), ("aux-accumulate", -100, 4)):
        numbers = expected(skipped)
        folder = ROOT / name
        settings = case(name, skipped, accumulate)
        (folder / "case.json").write_text(json.dumps(settings, indent=1) + "\n")
        (folder / "expected.json").write_text(json.dumps(numbers, indent=1) + "\n")
        print(name, json.dumps(numbers["tolerance"]))


main()
