"""Compares torch.optim.Muon's steps with the rule of replay.py.

    muon_torch.py make      prints them as JSON; needs torch 2.9 or later
    muon_torch.py FILE      compares

Weights, gradients and steps are integers over 64, for a wide and a tall matrix each. PyTorch
orthogonalizes a matrix in bf16; `exact` holds the steps of the same code with doubles instead.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import replay  # noqa: E402

CASES = [((3, 5), {}), ((5, 3), {"nesterov": False, "momentum": 0.5, "weight_decay": 0.0}),
         ((4, 2), {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3})]
STEPS, LR = 3, 0.125


def numbers(shape, seed):
    return [[((i * 37 + j * 11 + seed * 29) % 61 - 30) / 64 for j in range(shape[1])]
            for i in range(shape[0])]


def make():
    import torch

    out = []
    for shape, options in CASES:
        steps = {}
        for name, dtype in (("bf16", torch.bfloat16), ("exact", torch.float64)):
            kept, torch.bfloat16 = torch.bfloat16, dtype
            w = torch.nn.Parameter(torch.tensor(numbers(shape, 0), dtype=torch.float64))
            optimizer = torch.optim.Muon([w], lr=LR, **options)
            for k in range(STEPS):
                w.grad = torch.tensor(numbers(shape, k + 1), dtype=torch.float64)
                optimizer.step()
            torch.bfloat16 = kept
            steps[name] = w.tolist()
        out.append({"shape": shape, "options": options, **steps})
    print(json.dumps({"torch": torch.__version__, "cases": out}))


def compare(path):
    for case in json.load(open(path))["cases"]:
        shape, options = case["shape"], dict(case["options"])
        options["adjust_lr"] = options.pop("adjust_lr_fn", "original")
        rule = replay.Muon({"lr": LR, **options})
        rule.matrices = ["w"]
        p = sum(numbers(shape, 0), [])
        for k in range(STEPS):
            g = sum(numbers(shape, k + 1), [])
            rule.update("w", shape, p, g, LR, rule.get("weight_decay"), k)
        for name, allowed in (("exact", 1e-12), ("bf16", 4e-2)):
            away = max(abs(a - b) for a, b in zip(p, sum(case[name], [])))
            print(f"{shape} {name}: {'the same' if away <= allowed * LR else away / LR}")


if __name__ == "__main__":
    make() if sys.argv[1] == "make" else compare(sys.argv[1])
