"""Replays an optimizer in Python doubles from the gradients that fsdp-run dumps.

    replay.py FSDPC FSDP_RUN [-n RANKS] [--tolerance T] MODEL OPTIMIZER [SETTING..]

MODEL is a .fsd file, OPTIMIZER for example 'lion(lr = 1e-2)'; further SETTINGs for example
'train.clip=0.5'. For every step of the model file the run is repeated up to that step, which gives
the weights before it, its gradients and the weights after it. The rule below, written from the
publications and PyTorch's documentation and not from the kernels, computes the weights after it
from the other two; the largest distance of any element, relative to the largest step of its
parameter, must stay below T. Moments are kept in doubles through all steps. Prints one line.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "parity"))
import safetensors as st  # noqa: E402


def number(text):
    return None if text is None else float(eval(text, {"__builtins__": {}}))


class Rule:
    """options: the arguments of the optimizer as text"""

    defaults = {}

    def __init__(self, options):
        self.options = {**self.defaults, **options}
        self.state = {}

    def get(self, name):
        value = self.options[name]
        words = {"__builtins__": {}, "true": True, "false": False}
        return eval(value, words) if isinstance(value, str) else value

    def update(self, name, shape, p, g, lr, decay, step):
        raise NotImplementedError


class Adamw(Rule):
    defaults = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}

    def update(self, name, shape, p, g, lr, decay, step):
        b1, b2 = self.get("betas")
        m, v = self.state.setdefault(name, ([0.0] * len(p), [0.0] * len(p)))
        for i, x in enumerate(g):
            m[i] = b1 * m[i] + (1 - b1) * x
            v[i] = b2 * v[i] + (1 - b2) * x * x
            root = math.sqrt(v[i] / (1 - b2 ** (step + 1))) + self.get("eps")
            p[i] = p[i] * (1 - lr * decay) - lr * m[i] / (1 - b1 ** (step + 1)) / root


class Sgd(Rule):
    defaults = {"lr": 1e-3, "momentum": 0.0, "weight_decay": 0.0}

    def update(self, name, shape, p, g, lr, decay, step):
        buffer = self.state.setdefault(name, [0.0] * len(p))
        for i, x in enumerate(g):
            buffer[i] = self.get("momentum") * buffer[i] + x + decay * p[i]
            p[i] -= lr * buffer[i]


class Lion(Rule):
    """Chen and others, Symbolic Discovery of Optimization Algorithms, algorithm 2"""

    defaults = {"lr": 1e-4, "betas": (0.9, 0.99), "weight_decay": 0.0}

    def update(self, name, shape, p, g, lr, decay, step):
        b1, b2 = self.get("betas")
        m = self.state.setdefault(name, [0.0] * len(p))
        for i, x in enumerate(g):
            c = b1 * m[i] + (1 - b1) * x
            p[i] -= lr * ((c > 0) - (c < 0) + decay * p[i])
            m[i] = b2 * m[i] + (1 - b2) * x


class Adan(Rule):
    """Xie et al. 2022, Algorithm 1, with the betas of its authors' code: 1 minus the paper's"""

    defaults = {"lr": 1e-3, "betas": (0.98, 0.92, 0.99), "eps": 1e-8, "weight_decay": 0.0}

    def update(self, name, shape, p, g, lr, decay, step):
        b1, b2, b3 = self.get("betas")
        zeros = [0.0] * len(p)
        m, d, n, old = self.state.setdefault(name, (zeros[:], zeros[:], zeros[:], list(g)))
        for i, x in enumerate(g):
            change = x - old[i]
            m[i] = b1 * m[i] + (1 - b1) * x
            d[i] = b2 * d[i] + (1 - b2) * change
            n[i] = b3 * n[i] + (1 - b3) * (x + b2 * change) ** 2
            root = math.sqrt(n[i] / (1 - b3 ** (step + 1))) + self.get("eps")
            by = m[i] / (1 - b1 ** (step + 1)) + b2 * d[i] / (1 - b2 ** (step + 1))
            p[i] = (p[i] - lr * by / root) / (1 + lr * decay)
            old[i] = x


class Adafactor(Rule):
    """torch.optim.Adafactor, as its documentation states the algorithm"""

    defaults = {"lr": 1e-2, "beta2_decay": -0.8, "eps": (2.0**-23, 1e-3), "d": 1.0,
                "weight_decay": 0.0}

    def moments(self, name, shape, g, weight):
        rows, columns = shape[-2:]
        size, out = rows * columns, []
        for k in range(len(g) // size):
            x = [[v * v for v in g[k * size + r * columns :][:columns]] for r in range(rows)]
            r_now = [sum(row) / columns for row in x]
            c_now = [sum(row[j] for row in x) / rows for j in range(columns)]
            r, c = self.state.setdefault((name, k), ([0.0] * rows, [0.0] * columns))
            r[:] = [old + weight * (new - old) for old, new in zip(r, r_now)]
            c[:] = [old + weight * (new - old) for old, new in zip(c, c_now)]
            mean = max(sum(r) / rows, self.get("eps")[0])
            out += [a * b / mean for a in r for b in c]
        return out

    def update(self, name, shape, p, g, lr, decay, step):
        eps1, eps2 = self.get("eps")
        weight = (step + 1) ** self.get("beta2_decay")
        if len(shape) > 1:
            v = self.moments(name, shape, g, weight)
        else:
            v = self.state.setdefault(name, [0.0] * len(p))
            v[:] = [old + weight * (x * x - old) for old, x in zip(v, g)]
        u = [x / math.sqrt(max(m, eps1**2)) for x, m in zip(g, v)]
        rms = [math.sqrt(sum(x * x for x in of) / len(of)) for of in (p, u)]
        alpha = max(eps2, rms[0]) * min(lr, 1 / math.sqrt(step + 1))
        for i, x in enumerate(u):
            p[i] = p[i] * (1 - lr * decay) - alpha / max(1, rms[1] / self.get("d")) * x


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def orthogonal(rows, steps):
    """Jordan's iteration, from below with more rows than columns."""
    tall = len(rows) > len(rows[0])
    x = [list(column) for column in zip(*rows)] if tall else rows
    norm = max(math.sqrt(sum(v * v for row in x for v in row)), 1e-7)
    x = [[v / norm for v in row] for row in x]
    for _ in range(steps):
        gram = product(x, list(zip(*x)))
        square = product(gram, gram)
        poly = [[-4.7750 * g + 2.0315 * s for g, s in zip(*r)] for r in zip(gram, square)]
        x = [[3.4445 * v + w for v, w in zip(*r)] for r in zip(x, product(poly, x))]
    return list(zip(*x)) if tall else x


class Muon(Adamw):
    """torch.optim.Muon, as its documentation states the algorithm; the rest is AdamW's"""

    defaults = {"lr": 1e-3, "momentum": 0.95, "nesterov": True, "weight_decay": 0.1, "ns_steps": 5,
                "adjust_lr": "'original'", "adamw_lr": None, "betas": (0.9, 0.999), "eps": 1e-8}
    matrices = ()

    def update(self, name, shape, p, g, lr, decay, step):
        if name not in self.matrices:
            super().update(name, shape, p, g, lr, decay, step)
            return
        mu, (rows, columns) = self.get("momentum"), shape
        m = self.state.setdefault(name, [0.0] * len(p))
        m[:] = [old + (1 - mu) * (x - old) for old, x in zip(m, g)]
        u = [x + mu * (now - x) for x, now in zip(g, m)] if self.get("nesterov") else m
        x = orthogonal([list(u[i * columns :][:columns]) for i in range(rows)],
                       self.get("ns_steps"))
        ratio = math.sqrt(max(1, rows / columns))
        if self.options["adjust_lr"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        for i, v in enumerate(v for row in x for v in row):
            p[i] = p[i] * (1 - lr * decay) - lr * ratio * v


RULES = {"muon": Muon, "adamw": Adamw, "sgd": Sgd, "lion": Lion, "adan": Adan,
         "adafactor": Adafactor}


def parse(call):
    name, rest = re.fullmatch(r"(\w+)\((.*)\)", call.strip()).groups()
    parts = re.split(r",\s*(?![^(]*\))", rest) if rest.strip() else []
    return name, dict((k.strip(), v.strip()) for k, v in (p.split("=") for p in parts))


def read(path):
    return {k: (t.shape, list(t.values)) for k, t in st.load(path).items()}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("fsdpc")
    a.add_argument("fsdp_run")
    a.add_argument("-n", default="1")
    a.add_argument("--tolerance", type=float, default=1e-5)
    a.add_argument("--group", action="append", default=[], help="GLOB:lr:decay of a group")
    a.add_argument("--plain", default="", help="comma list of parameters that do not decay")
    a.add_argument("--matrices", default="", help="comma list of parameters that Muon moves")
    a.add_argument("--limit", type=float, default=0, help="train.clip")
    a.add_argument("model")
    a.add_argument("optimizer")
    a.add_argument("settings", nargs="*")
    a = a.parse_args()
    kind, options = parse(a.optimizer)
    rule = RULES[kind](options)
    rule.matrices = a.matrices.split(",")
    lr0 = number(str(rule.options["lr"]))
    groups = [g.split(":") for g in a.group]
    with tempfile.TemporaryDirectory() as folder:
        t = pathlib.Path(folder)
        sets = [x for s in a.settings for x in ("-s", s)]
        command = [a.fsdpc, "compile", "-q", "-n", a.n, a.model,
                   "-s", f"train.optimizer={a.optimizer}"]
        subprocess.run([*command, *sets, "-o", t / "plan"], check=True)
        run = [a.fsdp_run, "--quiet", "--threads", "1"]
        subprocess.run([*run, "--log", t / "log", "--save", t / "end", t / "plan"], check=True)
        steps = [e for e in map(json.loads, open(t / "log")) if e["event"] == "step"]
        subprocess.run([*run, "--steps", "0", "--save", t / "0", t / "plan"], check=True)
        before, worst, where = read(t / "0"), 0.0, ""
        for k, step in enumerate(steps):
            save = ["--steps", str(k + 1), "--save", t / str(k + 1)]
            subprocess.run([*run, *save, "--dump-grads", f"{k}={t / 'g'}", t / "plan"], check=True)
            after, grads = read(t / str(k + 1)), read(t / "g")
            clip = min(1, a.limit / (step["grad_norm"] + 1e-6)) if a.limit else 1
            for name, (shape, g) in grads.items():
                lr, decay = step["lr"], number(str(rule.options["weight_decay"]))
                if kind == "muon" and name not in rule.matrices and rule.options["adamw_lr"]:
                    lr *= number(rule.options["adamw_lr"]) / lr0
                for glob, its_lr, its_decay in groups:
                    if re.fullmatch(glob.replace(".", r"\.").replace("*", ".*"), name):
                        lr *= number(its_lr) / lr0 if its_lr else 1
                        decay = number(its_decay) if its_decay else decay
                        break
                if name in a.plain.split(","):
                    decay = 0
                p = list(before[name][1])
                rule.update(name, shape, p, [clip * x for x in g], lr, decay, k)
                moved = max(abs(x - y) for x, y in zip(before[name][1], after[name][1]))
                away = max(abs(x - y) for x, y in zip(p, after[name][1]))
                floor = max(map(abs, p)) * 2.0**-23  # two roundings of p
                if max(away - floor, 0) / max(moved, 1e-30) >= worst:
                    worst, where = max(away - floor, 0) / max(moved, 1e-30), f"{name} step {k}"
            for name in set(before) - set(grads):
                if before[name] != after[name]:
                    sys.exit(f"{name} has no gradient and moved")
            before = after
    if not worst <= a.tolerance:
        sys.exit(f"{a.optimizer} on {a.n} ranks: {where} is away by {worst:.3g} of its step")
    print(f"{kind} on {a.n} ranks: {len(steps)} steps as published")


if __name__ == "__main__":
    main()
