#!/usr/bin/env python3
"""Ops of random shapes and settings against PyTorch in doubles: loss and gradients of one step, in
f32 and bf16, on 1 to 4 ranks that share out samples or heads, losses in up to 4 micro-batches.

    against_torch.py FSDPC FSDP_RUN OP FIRST COUNT [-v]       needs torch
    against_torch.py --record OP FIRST COUNT >FILE            needs torch: what it computes
    against_torch.py --replay FILE FSDPC FSDP_RUN             needs nothing

A line of a record is the seed, then the loss, then for each parameter a weighted sum of its
gradient and the sum of its absolute values.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "parity"))
import safetensors as st  # noqa: E402
from random_models import narrow, save_array, save_weights  # noqa: E402

# of a loss, and of a sum of gradients in proportion to the sum of their absolute values
NEAR = {"f32": (1e-6, 1e-6), "bf16": (2e-2, 2e-2)}
# by op, times the above: differences of sums of logarithms; a single key, whose score of
# 10 leaves 1.25 to the gradient of its query, with PyTorch's floats as with ours
CANCELS = {"losses": 2.5, "more_attention": 1.5}
LEAST = {"losses": 0.1}  # loss of which that is a part: terms of opposite signs


class Case:
    """forward(FIELDS) { BODY } of a model with these parameters, and what it computes, by torch."""

    def __init__(self, seed, op):
        self.r = random.Random(f"{op} {seed}")
        self.fields, self.params, self.meshes = {}, {}, ["dp = 1"]
        self.loss = self.torch_loss = None  # mse of the result and field y
        self.inputs = []  # what forward takes; else all fields but y
        self.head = None  # of forward
        self.precisions = ["f32", "f32", "bf16"]
        self.batch = self.r.choice([1, 2, 2, 4])
        OPS[op](self, self.r)
        self.meshes += [f"dp = {n}" for n in (2, 4) if self.batch % n == 0]
        self.mesh = self.r.choice(self.meshes)
        self.precision = self.r.choice(self.precisions)
        samples = self.batch // int(self.mesh.split()[-1])
        calls = [n for n in (1, 2, 4) if op == "losses" and samples % n == 0]
        self.accumulate = self.r.choice(calls or [1])

    def field(self, name, shape, draw=None):
        n = self.batch * math.prod(shape)
        values = [draw() for _ in range(n)] if draw else narrow(self.normal(n))
        self.fields[name] = shape, "i" if draw else "f", values

    def normal(self, n, spread=1):
        return [self.r.gauss(0, spread) for _ in range(n)]

    def param(self, name, shape, spread=1):
        self.params[name] = shape, narrow(self.normal(math.prod(shape), spread))

    def text(self):
        names = [n for n in self.fields if n != "y"]
        size = ", ".join(f'{n} = "{n}.npy"' for n in self.fields)
        return "\n".join([
            "module Net {",
            *(f"  {n} : param[{', '.join(map(str, s))}] = zeros"
              for n, (s, _) in self.params.items()),
            f"  forward({self.head or ', '.join(self.inputs or names)}) {{",
            *("    " + line for line in self.body), "  }", "}",
            "model = Net", f"data {{ train = npy({size}); order = sequential }}",
            f"train {{ loss = {self.loss or 'mse(model(' + ', '.join(names) + '), y)'}",
            f"  batch = {self.batch}; accumulate = {self.accumulate}; steps = 1",
            f"  optimizer = sgd(lr = 0.1); precision = {self.precision} }}",
            f"shard {{ mesh = ({self.mesh}); unit = root }}", ""])  # fmt: skip

    def expected(self):
        """Loss and gradients in doubles."""
        import torch

        def tensor(shape, form, values):
            kind = torch.float64 if form == "f" else torch.int64
            return torch.tensor(values, dtype=kind).reshape(shape)

        env = {n: tensor([self.batch, *s], f, v) for n, (s, f, v) in self.fields.items()}
        params = {n: tensor(s, "f", v).requires_grad_() for n, (s, v) in self.params.items()}
        out = self.torch(torch, {**env, **params})
        if self.loss:
            loss = self.torch_loss(torch, {**env, **params}, out)
        else:
            loss = ((out - env["y"]) ** 2).mean()
        loss.backward()
        return loss.item(), {n: p.grad.flatten().tolist() for n, p in params.items()}

    def computed(self, fsdpc, fsdp_run):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                for name, (shape, form, values) in self.fields.items():
                    save_array(name + ".npy", form, [self.batch, *shape], values)
                shapes = {n: (s, None) for n, (s, _) in self.params.items()}
                save_weights("w.safetensors", shapes, {n: v for n, (_, v) in self.params.items()})
                with open("net.fsd", "w", encoding="utf-8") as f:
                    f.write(self.text())
                run = [fsdp_run, "-q", "--log", "log", "--load", "w.safetensors", "--dump-grads"]
                for command in [fsdpc, "compile", "-q", "net.fsd", "-o", "p"], run + ["0=g", "p"]:
                    subprocess.run(command, check=True)
                with open("log", encoding="utf-8") as log:
                    steps = [json.loads(line) for line in log if "step_ms" in line]
                return steps[0]["loss"], {n: list(t.values) for n, t in st.load("g").items()}
            finally:
                os.chdir(before)


def attention(c, r, more=False):
    """Every way in which a position does not see another; more: with sinks or biases of samples."""
    T = r.choice([r.randint(1, 12), r.randint(13, 40), r.choice([64, 65, 100])])
    S = T if r.random() < 0.6 else r.randint(1, 70)
    K, group, h = r.choice([1, 2]), r.choice([1, 2, 3]), r.randint(1, 9)
    H, causal, seen = K * group, r.random() < 0.5, r.choice(["", "keys", "pairs", "documents"])
    window = r.choice([None, None, 1, 2, r.randint(2, max(2, T))])
    cap, scale = r.choice([None, None, 0.5, 2]), r.choice([None, 0.3])
    bias = r.random() < 0.3
    if seen == "documents" and S != T:
        seen = "pairs"
    sunk = more and r.random() < 0.5
    each, bias = more and not sunk, bias and not more
    for name, shape in ("q", [T, H, h]), ("k", [S, K, h]), ("v", [S, K, h]):
        c.field(name, shape)
        c.param("p" + name, shape)
    more = f"causal = {str(causal).lower()}"
    for name, value in ("window", window), ("cap", cap), ("scale", scale):
        more += f", {name} = {value}" if value else ""
    if bias:
        c.param("b", [H, T, S])
        more += ", bias = b"
    if each:
        heads = r.choice([1, H])
        c.field("b", [heads, T, S])
        c.param("pb", [heads, T, S])
        more += ", bias = b + pb"
    if sunk:
        c.param("sinks", [H])
        more += ", sinks = sinks"
    if seen:
        shape = [T, S] if seen == "pairs" else [S]
        most = 2 if seen != "documents" else r.choice([2, 5])
        c.field("m", shape, lambda: r.randrange(most))
        more += ", documents = m" if seen == "documents" else ", mask = m"
    c.field("y", [T, H, h])
    c.body = [f"return attention(q + pq, k + pk, v + pv, {more})"]
    c.meshes += ["tp = 2"] * (K % 2 == 0)

    def by_torch(torch, x):
        q, k, v = (x[n] + x["p" + n] for n in "qkv")
        k, v = (t.repeat_interleave(group, dim=2) for t in (k, v))
        s = torch.einsum("bthi,bshi->bhts", q, k) * (scale or h**-0.5)
        s = cap * torch.tanh(s / cap) if cap else s
        s = s + x["b"] if bias else s + x["b"] + x["pb"] if each else s
        far = torch.arange(T)[:, None] - torch.arange(S)
        open_ = (far >= 0) if causal else torch.ones(T, S, dtype=torch.bool)
        open_ = open_ & (far.abs() < window) if window else open_
        open_ = open_.expand(c.batch, T, S)
        if seen:
            m = x["m"]
            of = {"keys": m[:, None] != 0, "pairs": m != 0}
            open_ = open_ & (m[:, :, None] == m[:, None] if seen == "documents" else of[seen])
        open_ = open_[:, None]
        s = s.masked_fill(~open_, -1e300)
        if sunk:
            s = torch.cat([s, x["sinks"][:, None, None].expand(c.batch, H, T, 1)], dim=-1)
        p = torch.softmax(s, dim=-1)[..., :S].masked_fill(~open_, 0)
        return torch.einsum("bhts,bshi->bthi", p, v)

    c.torch = by_torch


def rounding(c, r):
    """floor, ceil and %, of numbers with few binary digits, where f32 rounds as doubles do."""
    shape = [r.randint(1, 9), r.randint(1, 40)]

    def few(n, least=-40):
        return [r.randint(least, 40) / 8 for _ in range(n)]

    for name in "xyq":
        c.field(name, shape)
        n = c.batch * math.prod(shape)
        c.fields[name] = shape, "f", few(n, 1) if name == "q" else few(n)
    for name in "abd":
        row = shape[1:] if name == "b" else shape
        c.params[name] = row, few(math.prod(row), 1 if name == "d" else -40)
    c.precisions = ["f32"]
    c.body = ["y = (x * a + b) * 0.1 + floor(x * b) * a + ceil(x - a)",
              "return y + (x + a) % (q * 4 + d * 8 + 1) % 3"]  # fmt: skip

    def by_torch(torch, v):
        x, a = v["x"], v["a"]
        low = (x * a + v["b"]) * 0.1 + torch.floor(x * v["b"]) * a + torch.ceil(x - a)
        y, z = x + a, v["q"] * 4 + v["d"] * 8 + 1
        y = y - torch.floor(y.detach() / z.detach()) * z
        return low + y - torch.floor(y.detach() / 3) * 3

    c.torch = by_torch


def losses(c, r):
    """Sums and multiples of means of logits [B, T, C], each with a count of its own."""
    T, C, D = r.randint(1, 7), r.choice([2, 3, 7, 33, 120]), r.randint(1, 6)
    c.batch = r.choice([1, 2, 4, 8])
    c.params["w"] = [C, D], narrow(c.normal(C * D))
    c.inputs = ["x"]
    c.body = ["return linear(x, w)"]
    for name in "xo":  # a second input, such as the answer that was not preferred
        c.field(name, [T, D])
    for name in "tu":
        c.field(name, [T], lambda: r.choice([-100, r.randrange(C), r.randrange(C)]))
    c.fields["t"][2][0] = c.fields["u"][2][-1] = 0  # one of them counts
    c.field("m", [T], lambda: r.randrange(2))
    c.fields["m"][2][0] = 1
    c.field("s", [T, 1])
    n = c.batch * T
    rows = [[abs(v) + 0.1 for v in c.normal(C)] for _ in range(n)]
    c.fields["p"] = [T, C], "f", narrow([v / sum(row) for row in rows for v in row])
    c.fields["b"] = [T, C], "f", narrow([r.choice([0, 1, r.random()]) for _ in range(n * C)])

    def token(torch, v, out, target):
        ignored = v[target] == -100
        picked = out.gather(-1, v[target].clamp(min=0)[..., None])[..., 0]
        return (out.logsumexp(-1) - picked).masked_fill(ignored, 0), (~ignored).double()

    def mean_of(torch, v, out, target, weight=1):
        each, counts = token(torch, v, out, target)
        return (weight * each).sum() / (weight * counts).sum()

    def class_weight(torch, v, target):
        return torch.where(v[target] == 1, 3.0, 0.5).double()

    def divergence(torch, v, out):
        return (v["p"] * (v["p"].log() - out.log_softmax(-1))).sum(-1)

    def other(torch, v):
        return v["o"] @ v["w"].T

    def preference(torch, v, out):
        each = token(torch, v, out, "t")[0].sum(-1)
        each = each - token(torch, v, other(torch, v), "t")[0].sum(-1)
        return torch.nn.functional.softplus(0.3 * each + v["s"].sum((1, 2))).mean()

    ce = "cross_entropy(model(x), t, each = true)"
    weight = "where(t == 1, 3, 0.5)"
    terms = [
        ("cross_entropy(model(x), t)", lambda t, v, o: mean_of(t, v, o, "t")),
        ("cross_entropy(model(x), u, z = 0.01)", lambda t, v, o: mean_of(t, v, o, "u") +
            0.01 * (o.logsumexp(-1) ** 2 * (v["u"] != -100)).sum() / (v["u"] != -100).sum()),
        (f"sum({weight} * {ce}) / sum({weight} * (t != -100))",
            lambda t, v, o: mean_of(t, v, o, "t", class_weight(t, v, "t"))),
        (f"sum(m * {ce}) / sum(m)",
            lambda t, v, o: (v["m"] * token(t, v, o, "t")[0]).sum() / v["m"].sum()),
        ("mean((logsumexp(model(x)) - mean(model(x), axis = -1)) * s)",
            lambda t, v, o: ((o.logsumexp(-1) - o.mean(-1)) * v["s"][..., 0]).mean()),
        ("cross_entropy(model(x), p)",
            lambda t, v, o: -(v["p"] * o.log_softmax(-1)).sum(-1).mean()),
        ("kl(p, model(x))", lambda t, v, o: divergence(t, v, o).mean()),
        ("sum(m * kl(p, model(x), each = true)) / sum(m)",
            lambda t, v, o: (v["m"] * divergence(t, v, o)).sum() / v["m"].sum()),
        ("binary_cross_entropy(model(x), b)",
            lambda t, v, o: t.nn.functional.binary_cross_entropy_with_logits(o, v["b"])),
        ("mean(logsumexp(model(x)) * logsumexp(model(x)))",
            lambda t, v, o: (o.logsumexp(-1) ** 2).mean()),
        (f"mean(softplus(0.3 * (sum({ce}, axis = 1) - sum({ce.replace('(x)', '(o)')}, axis = 1))"
         " + sum(s, axis = [1, 2])[:, :, 0]))", preference),
        ("mse(model(x), b)", lambda t, v, o: ((o - v["b"]) ** 2).mean()),
        ("mean(model(o) * model(x))", lambda t, v, o: (other(t, v) * o).mean()),
    ]  # fmt: skip
    chosen = r.sample(terms, r.choice([1, 1, 2, 3, 4]))
    factors = [r.choice([1, 1, 0.5, -0.3, 2]) for _ in chosen]
    texts = [t if f == 1 else f"{f} * ({t})" for f, (t, _) in zip(factors, chosen)]
    c.loss = " + ".join(texts)
    if r.random() < 0.3:
        c.loss = "(" + ", ".join(f"n{i} = {t}" for i, t in enumerate(texts)) + ")"
    c.torch = lambda torch, v: v["x"] @ v["w"].T
    parts = [(f, by_torch) for f, (_, by_torch) in zip(factors, chosen)]
    c.torch_loss = lambda torch, v, out: sum(f * g(torch, v, out) for f, g in parts)


def turned(c, r):
    """rope at positions that are given, of a sample or of all."""
    T, H, h = r.randint(1, 20), r.randint(1, 3), 2 * r.randint(1, 8)
    base, interleaved = r.choice([10, 1e4]), r.random() < 0.5
    of_all = r.random() < 0.3
    c.field("x", [T, H, h])
    c.param("a", [T, H, h])
    c.field("p", [T], lambda: r.choice([0, 1, 7, 100, 3000]))
    c.field("y", [T, H, h])
    at = "iota(T) * 3 + 5" if of_all else "p"
    c.body = [f"return rope(x * a, positions = {at}, base = {base}, "
              f"interleaved = {str(interleaved).lower()})"]  # fmt: skip
    c.head = "x: [B, T, H, h], p"

    def by_torch(torch, v):
        x, n = v["x"] * v["a"], h // 2
        p = (torch.arange(T) * 3 + 5).expand(c.batch, T) if of_all else v["p"]
        angle = p[:, :, None, None] * base ** (-torch.arange(n, dtype=torch.float64) / n)
        cos, sin = torch.cos(angle), torch.sin(angle)
        a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :n], x[..., n:])
        pair = a * cos - b * sin, b * cos + a * sin
        return torch.stack(pair, -1).flatten(3) if interleaved else torch.cat(pair, -1)

    c.torch = by_torch


def places(c, r):
    """gather along axes and of rows with padding, cumsum, and ranges with a step."""
    T, D, V, n = r.randint(2, 40), r.randint(2, 20), r.randint(3, 9), r.randint(1, 12)
    first, step = r.randrange(T), r.randint(2, 5)
    last, pad = r.randint(first + 1, T), r.choice([None, r.randrange(V)])
    c.field("x", [T, D])
    c.param("a", [T, D])
    c.param("w", [V, D])
    c.field("i", [T], lambda: r.randrange(V))
    c.field("k", [T, n], lambda: r.randrange(D))
    c.field("y", [T, D])
    axis = r.choice([1, 2])
    size = T if axis == 1 else D
    of, none = "as [T, 1]" if axis == 1 else "", "none" if pad is None else pad
    c.body = [
        f"u = gather(w, i, padding = {none}) + cumsum(x * a, axis = {axis})",
        f"t = u[:, {first}:{last}:{step}]",
        f"z = gather(u, (iota({size}) * 3 % {size}) {of}, axis = {axis})",
        f"g = gather(u, k, axis = -1)[:, :, ::{r.randint(1, 3)}]",
        "return z * 0.1 + sum(t * t, axis = 1) * 0.01 + sum(g, axis = -1) * 0.1",
    ]
    c.head = "x: [B, T, D], i, k"
    stride = int(c.body[3].rsplit(":", 1)[1][:-1])

    def by_torch(torch, v):
        rows = v["w"][v["i"]]
        if pad is not None:
            rows = torch.where((v["i"] == pad)[..., None], rows.detach(), rows)
        u = rows + torch.cumsum(v["x"] * v["a"], axis)
        t = u[:, first:last:step]
        z = torch.index_select(u, axis, torch.arange(size) * 3 % size)
        g = torch.gather(u, 2, v["k"])[:, :, ::stride]
        return z * 0.1 + (t * t).sum(1, keepdim=True) * 0.01 + g.sum(-1, keepdim=True) * 0.1

    c.torch = by_torch


def more_attention(c, r):
    attention(c, r, more=True)


OPS = {"attention": attention, "more_attention": more_attention, "places": places,
       "rounding": rounding, "turned": turned, "losses": losses}  # fmt: skip


def summed(gradients):
    """By parameter: a weighted sum, and the sum of absolute values."""
    out = {}
    for name, values in sorted(gradients.items()):
        r = random.Random(name)
        out[name] = sum(v * r.uniform(-1, 1) for v in values), sum(map(abs, values))
    return out


def numbers_of(loss, sums):
    return [loss, *(x for name in sorted(sums) for x in sums[name])]


def compare(op, seed, want, got, precision):
    """The largest distance relative to the allowed one; above 1 they are not near."""
    near_loss, near = (CANCELS.get(op, 1) * x for x in NEAR[precision])
    ratios = [abs(got[0] - want[0]) / (near_loss * max(abs(want[0]), LEAST.get(op, 1e-3)))]
    for i in range(1, len(want), 2):  # gradients that are zero are compared with the others
        size = max(want[i + 1], 0.5 * max(want[2::2])) or 1
        ratios.append(max(abs(got[j] - want[j]) for j in (i, i + 1)) / (near * size))
    if max(ratios) > 1:
        print(f"{op} {seed}: {precision}, off by {max(ratios):.3g}: {got}, PyTorch {want}")
    return max(ratios)


def expected_numbers(case):
    loss, gradients = case.expected()
    return numbers_of(loss, summed(gradients))


def check(op, seeds, want_of, programs):
    worst, wrong = dict.fromkeys(NEAR, 0), 0
    for seed in seeds:
        case = Case(seed, op)
        want = want_of(case, seed)
        loss, gradients = case.computed(*programs)
        ratio = compare(op, seed, want, numbers_of(loss, summed(gradients)), case.precision)
        worst[case.precision] = max(worst[case.precision], ratio)
        wrong += ratio > 1
    print(f"{op}: {len(seeds)} cases, {wrong} wrong")
    if "-v" in sys.argv:
        print("at most", *(f"{p} {x:.2f}" for p, x in worst.items()), "of what is allowed")
    return wrong


def main(args):
    if args[0] == "--record":
        op, first, count = args[1], int(args[2]), int(args[3])
        print(op)
        for seed in range(first, first + count):
            print(seed, *(f"{x:.12g}" for x in expected_numbers(Case(seed, op))))
    elif args[0] == "--replay":
        with open(args[1], encoding="utf-8") as f:
            op, *lines = f.read().splitlines()
        want = {int(s): list(map(float, rest)) for s, *rest in (x.split() for x in lines)}
        sys.exit(check(op, list(want), lambda c, seed: want[seed], args[2:4]) > 0)
    else:
        fsdpc, fsdp_run, op, first, count = args[:5]
        seeds = range(int(first), int(first) + int(count))
        programs = os.path.abspath(fsdpc), os.path.abspath(fsdp_run)
        sys.exit(check(op, seeds, lambda c, _: expected_numbers(c), programs) > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
