#!/usr/bin/env python3
"""Random expressions over fields and parameters, EXPRESSIONS of them a model: broadcasts, sums,
means and extremes along any axes, reshapes, transpositions, comparisons, parts of axes, norms and
products, of 1 to 4 axes of 1 to 200 entries. Sizes are few and stand for several axes, so that
values of one element count and different order meet; most operands are read for the last time, so
that results take their memory. See Expression.

    random_expressions.py FSDPC FSDP_RUN WITHOUT FIRST_SEED COUNT [OPTION..]      COUNT models

Each model is proved by the checker and trained for a step, on one rank or two, three times in four
under FSDP_CHECK=memory, on a random instruction set and number of threads. In f32 the loss and each
expression's gradients and trained weights are those that arrays.py computes from the same text
in double precision. The unit of distance is how far the values of a parameter move at most when
each number of fields and parameters, and each that gradients are added up from, moves by 2^-22 of
itself. Of 6,000 expressions the worst was off by 21.6 such units, a mean whose terms cancel; of 46
with results that overwrote operands the least by 119. TOLERANCE is 32.
One model in four computes in bf16: it has, bit for bit, the loss, gradients and weights of the
model without fused ops, which WITHOUT makes (without.c).

OPTIONs are fsdp-run's, such as --device=cuda. With them memory is not checked, and models in bf16
omit only pass fuse_elementwise: on a GPU the gradients of a norm that is one op are added in
another order.
"""

import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arrays  # noqa: E402
import safetensors as st  # noqa: E402
from model_in_python import python  # noqa: E402
from random_models import save_array, save_weights  # noqa: E402

EXPRESSIONS, RATE, NEAR, TOLERANCE = 20, 0.05, 2**-22, 32
SIZES = [2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 33, 40, 48, 64, 65, 100, 128, 200]
LARGEST = 30.0  # value of an expression
APART = 2e-5  # numbers whose order decides something
OFFLOADED = ["params = cpu", "grads = cpu", "states = cpu, params = cpu"]
FUSING = "fuse_packed_attention,fuse_gelu,fuse_backward,pad,fuse_norm,fuse_loss,fuse_elementwise"

UNARY = ["-{0}", "0.5 * {0}", "1 - {0}", "tanh({0})", "sigmoid({0})", "silu({0})", "gelu({0})",
         "relu({0})", "abs({0})", "exp(tanh({0}))", "log(1 + {0} * {0})", "sqrt(1 + {0} * {0})",
         "rsqrt(1 + {0} * {0})", "sin({0})", "cos({0})", "where({0} > 0.1, {0}, -0.5)",
         "{0} * {0}", "{0} - stop_gradient({0} * 0.5)", "where({0} > 0, 1, 0.5)"]  # fmt: skip
BINARY = ["{0} + {1}", "{0} - {1}", "{1} - {0}", "{0} * {1}", "{0} * {1}", "{0} / (1 + abs({1}))",
          "max({0}, {1})", "min({0}, {1})", "where({0} > {1}, {0}, {1})",
          "where({0} <= {1}, {1}, 0)",
          "{0} * sigmoid({1})", "{0} - 0.3 * {1}", "{0} * {0} - {1}", "tanh({0}) * {1}",
          "({0} + {1}) * ({0} - {1})", "{1} / (1 + {0} * {0})"]  # fmt: skip


class Value:
    """A statement's result. `shape` is that of a sample, or of the whole if it has none."""

    def __init__(self, name, shape, batch):
        self.name, self.shape, self.batch, self.read = name, shape, batch, 0

    def count(self):
        return math.prod(self.shape)

    def axes(self, axes):
        """Axes of a sample as those of the value."""
        return [a + self.batch for a in axes]


class Expression:
    """module E3 { parameters; forward(a, b) { statements } }: made statement by statement, each
    computed at once, so that none is kept whose numbers are too large or whose order is unclear."""

    def __init__(self, r, number, model):
        self.r, self.number, self.model, self.n = r, number, model, 0
        self.params, self.lines, self.values = {}, [], []
        self.names = {**arrays.FUNCTIONS, "B": model.batch}
        self.fields = r.sample(sorted(model.fields), r.choice([1, 1, 2, 2, 3]))
        for name in self.fields:
            self.names[name] = arrays.Array(model.fields[name])
            self.values.append(Value(name, list(model.fields[name].shape[1:]), True))
        for _ in range(r.choice([4, 6, 8, 10, 14])):
            self.statement()
        self.end()

    def text(self):
        params = [f"  {n} : param[{', '.join(map(str, v.shape))}] = zeros"
                  + " @frozen" * (n in self.frozen) for n, v in self.params.items()]  # fmt: skip
        inputs = [f"{n}: [B, {', '.join(map(str, self.model.fields[n].shape[1:]))}]"
                  for n in self.fields]  # fmt: skip
        lines = ["    " + s for s in self.lines]
        return "\n".join([f"module E{self.number} {{", *params,
                          f"  forward({', '.join(inputs)}) {{", *lines, "  }", "}"])  # fmt: skip

    def compute(self, params, fields):
        """The result, of parameters and fields by name."""
        names = {**arrays.FUNCTIONS, "B": self.model.batch, **params, **fields}
        for line in self.lines[:-1]:
            exec(python(line), names)
        return eval(python(self.lines[-1].removeprefix("return ")), names)

    # ---- statements

    def let(self, text, batch, parts=1, checked=True):
        """Whether the statement was added: if not `checked`, it is."""
        made = [f"v{self.n + i}" for i in range(parts)]
        arrays.NEAREST[0] = math.inf
        got = eval(python(text), self.names)
        got = got if parts > 1 else [got]
        for x in got:
            sizes = np.abs(x.a)
            fits = x.a.size <= self.model.most and 0.01 < sizes.max() < LARGEST
            if checked and not (fits and arrays.NEAREST[0] >= APART):
                return False
        self.lines.append(f"{', '.join(made)} = {text}")
        self.n += parts
        for name, x in zip(made, got):
            self.names[name] = x
            self.values.append(Value(name, x.shape[batch:], bool(batch)))
        return True

    def pick(self):
        """A value, most often one of the last ones."""
        v = self.r.choice(self.values[-3:] if self.r.random() < 0.85 else self.values)
        v.read += 1
        return v

    def param(self, shape):
        name = f"p{len(self.params)}"
        drawn = self.model.draw(self.r, shape)
        self.params[name] = self.names[name] = arrays.Array(drawn)
        return Value(name, list(shape), False)

    def seen_as(self, v, shape):
        """The text of v under another shape: through a flat one where axes are not just axes of one
        entry that come and go."""
        if v.shape == list(shape):
            return v.name
        first = ["B"] if v.batch else []
        rows = [[*first, *shape]]
        if [n for n in v.shape if n > 1] != [n for n in shape if n > 1] and len(v.shape) > 1:
            rows.insert(0, [*first, v.count()])
        return f"({v.name}{''.join(f' as [{chr(44).join(map(str, s))}]' for s in rows)})"

    def with_ones(self, shape, rank):
        shape = list(shape)
        while len(shape) < rank:
            shape.insert(self.r.randint(0, len(shape)), 1)
        return shape

    def other_shape(self, v):
        """Another shape of as many elements."""
        kind, n = self.r.random(), v.count()
        if kind < 0.4:
            bare = [d for d in v.shape if d > 1]
            return self.with_ones(bare, self.r.randint(max(len(bare), 1), max(len(bare), 3)))
        if kind < 0.6:
            return [n]
        near = [d for d in {*self.model.sizes, 2, 3, 4} if n % d == 0]
        d = self.r.choice(near or [1])
        return self.with_ones(self.r.choice([[d, n // d], [n // d, d]]), self.r.choice([2, 2, 3]))

    def beside(self, shape, batch):
        """The text of an operand that broadcasts with a value of that shape."""
        v = self.pick()
        bare = [n for n in v.shape if n > 1]
        ways = []
        for at in itertools.combinations(range(len(shape)), len(bare)):
            wide = list(shape)
            own = [1] * len(shape)
            for i, n in zip(at, bare):
                own[i] = n
                wide[i] = max(wide[i], n)
            fits = all({n, k} <= {1, w} for n, k, w in zip(shape, own, wide))
            if fits and math.prod(wide) * self.model.batch <= self.model.most:
                ways.append(own)
        if v.count() == math.prod(shape):
            ways.append(list(shape))
        if not ways or self.r.random() < 0.15:
            v.read -= 1
            own = [n if self.r.random() < 0.7 else 1 for n in shape]
            return self.param(own).name, False
        return self.seen_as(v, self.r.choice(ways)), v.batch

    def statement(self):
        kinds = [(self.binary, 40), (self.unary, 12), (self.reduction, 16), (self.reshape, 8),
                 (self.transposition, 8), (self.part, 8), (self.joined, 8), (self.mask, 5),
                 (self.rows, 6), (self.broadcast, 3), (self.product, 2)]  # fmt: skip
        for _ in range(20):
            make = self.r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
            params = dict(self.params)
            if make():
                return
            self.params = params

    def binary(self):
        v = self.pick()
        shape = v.shape
        if len(shape) < 3 and self.r.random() < 0.3:
            shape = self.with_ones(shape, len(shape) + 1)
        if not shape:
            shape = [1]
        other, batch = self.beside(shape, v.batch)
        return self.let(self.r.choice(BINARY).format(self.seen_as(v, shape), other),
                        v.batch or batch)  # fmt: skip

    def unary(self):
        v = self.pick()
        return self.let(self.r.choice(UNARY).format(v.name), v.batch)

    def axes(self, v, near=False):
        """Some axes of a sample, as those of the value."""
        n = len(v.shape)
        if near:
            a = self.r.randrange(n)
            return v.axes(range(a, self.r.randint(a + 1, n)))
        return v.axes(sorted(self.r.sample(range(n), self.r.randint(1, n))))

    def reduction(self):
        v = self.pick()
        if not v.shape:
            return False
        f = self.r.choice(["sum", "sum", "sum", "mean", "max", "min"])
        axes = self.axes(v, f != "sum")
        one = len(axes) == 1
        factor = self.r.choice(["0.1 * ", ""]) if f == "sum" else ""
        operand = v.name if self.r.random() < 0.6 else f"{v.name} * {v.name}"
        if self.r.random() < 0.3:
            other, batch = self.beside(v.shape, v.batch)
            if batch <= v.batch:
                operand = f"{v.name} * {other}"
        return self.let(f"{factor}{f}({operand}, axis = {axes[0] if one else axes})", v.batch)

    def reshape(self):
        v = self.pick()
        text = self.seen_as(v, self.other_shape(v))
        return text[0] == "(" and self.let(text, v.batch)

    def transposition(self):
        v = self.pick()
        order = list(range(len(v.shape)))
        self.r.shuffle(order)
        if order == sorted(order):
            return False
        axes = [0] * v.batch + v.axes(order)
        return self.let(f"transpose({v.name}, {axes})", v.batch)

    def part(self):
        """Of an axis: a range, an entry, or two or three parts that are joined in another order."""
        v = self.pick()
        wide = [a for a, n in enumerate(v.shape) if n > 1]
        if not wide:
            return False
        a = self.r.choice(wide)
        n, axis = v.shape[a], v.axes([a])[0]
        kind = self.r.random()
        if kind < 0.3:
            first = self.r.randrange(n)
            last = self.r.randint(first + 1, n)
            return self.let(f"{v.name}[{':, ' * axis}{first}:{last}]", v.batch)
        if kind < 0.5:
            return self.let(f"{v.name}[{':, ' * axis}{self.r.randrange(n)}]", v.batch)
        parts = self.r.choice([k for k in (2, 3, 4) if n % k == 0] or [1])
        if parts == 1:
            cut = self.r.randrange(1, n)
            return self.let(f"split({v.name}, axis = {axis}, sizes = {[cut, n - cut]})", v.batch, 2)
        sizes = [n // parts] * parts
        made = [f"v{self.n + i}" for i in range(parts)]
        if not self.let(f"split({v.name}, axis = {axis}, sizes = {sizes})", v.batch, parts):
            return False
        self.r.shuffle(made)
        made[0] = self.r.choice([made[0], f"-{made[0]}", f"{made[0]} * {made[-1]}"])
        return self.let(f"concat({', '.join(made)}, axis = {axis})", v.batch)

    def joined(self):
        """Along an axis, or beside each other."""
        v, w = self.pick(), self.pick()
        if not v.shape:
            return False
        if v.shape != w.shape or v.batch != w.batch:
            w = v
        parts = [v.name, self.r.choice([w.name, f"0.5 * {w.name}", f"tanh({w.name})"])]
        self.r.shuffle(parts)
        new = self.r.random() < 0.4 and len(v.shape) < 3
        axis = v.axes([self.r.randint(0, len(v.shape) - (not new))])[0]
        return self.let(f"{'stack' if new else 'concat'}({', '.join(parts)}, axis = {axis})",
                        v.batch)  # fmt: skip

    def mask(self):
        """By the places along two axes."""
        v = self.pick()
        wide = [a for a, n in enumerate(v.shape) if n > 1]
        if len(wide) < 2:
            return False
        a, b = sorted(self.r.sample(wide, 2))
        for i in (a, b):
            self.let(f"iota({v.shape[i]})", False, checked=False)
            self.values.pop()
        at = []
        for name, i in ((f"v{self.n - 2}", a), (f"v{self.n - 1}", b)):
            at.append(f"({name} as {[n if k == i else 1 for k, n in enumerate(v.shape)]})")
        how = self.r.choice(["<", "<=", ">", ">=", "==", "!="])
        taken = self.r.choice(["1, 0", f"{v.name}, 0", f"0.5, {v.name}", f"{v.name}, -{v.name}"])
        return self.let(f"where({at[0]} {how} {at[1]}, {taken})", v.batch and v.name in taken)

    def rows(self):
        v = self.pick()
        if not v.shape or v.shape[-1] < 2:
            return False
        n, kind = v.shape[-1], self.r.random()
        if kind < 0.4:
            return self.let(f"softmax({v.name})", v.batch)
        if self.names[v.name].a.var(axis=-1).min() < 0.01:
            return False  # rounding alone would be made large
        scale = self.param([n]).name
        if kind < 0.7:
            return self.let(f"rms_norm({v.name}, {scale})", v.batch)
        return self.let(f"layer_norm({v.name}, {scale}, {self.param([n]).name})", v.batch)

    def broadcast(self):
        v = self.pick()
        if v.batch or not v.shape:
            return False
        n = self.r.choice([*self.model.sizes, 2, 3])
        shape = [n] * (self.r.random() < 0.5) + [n if k == 1 else k for k in v.shape]
        if shape == v.shape or len(shape) > 3:
            return False
        return self.let(f"expand({v.name}, {shape})", False)

    def product(self):
        v = self.pick()
        if len(v.shape) != 2:
            return False
        w = self.param([v.shape[1], self.r.choice([*self.model.sizes, 3])])
        return self.let(f"0.2 * matmul({v.name}, {w.name})", v.batch)

    def end(self):
        """A result [B, width]: the last value, plus a little of the last values not yet read."""
        if not self.values[-1].batch or not self.values[-1].shape:
            v, field = self.values[-1], self.values[0]
            axes = self.values[0].axes(range(len(field.shape)))
            field_mean = f"mean({field.name}, axis = {axes})"
            self.let(field_mean, True, checked=False)
            shape = v.shape or [1]
            one = self.seen_as(self.values[-1], [1] * len(shape))
            self.let(f"(1 + {one}) * {self.seen_as(v, shape)}", True, checked=False)
        v = self.values[-1]
        for u in [u for u in self.values[:-1] if not u.read and u.shape][-2:]:
            axes = u.axes(range(len(u.shape)))
            if self.let(f"mean({u.name}, axis = {axes})", u.batch):
                one = self.seen_as(self.values[-1], [1] * len(v.shape))
                if self.let(f"{v.name} + 0.1 * {one}", True):
                    v = self.values[-1]
        while v.count() > 200:
            axis = v.axes([max(range(len(v.shape)), key=lambda a: v.shape[a])])[0]
            self.let(f"mean({v.name}, axis = {axis})", True, checked=False)
            v = self.values[-1]
        self.width = v.count()
        own = self.param([self.width])
        self.lines.append(f"return {self.seen_as(v, [self.width])} * {own.name}")
        self.drop_unread()
        result = self.compute(self.params, {n: self.names[n] for n in self.fields})
        self.frozen = {n for n, p in self.params.items() if not arrays.reaches(result, p)}

    def drop_unread(self):
        """Statements and parameters that the result does not depend on."""
        kept, read = [], set()
        for line in reversed(self.lines):
            made, _, text = line.partition(" = ")
            if line.startswith("return ") or read & set(made.split(", ")):
                kept.insert(0, line)
                read |= set(re.findall(r"\w+", text or line))
        self.lines = kept
        self.params = {n: p for n, p in self.params.items() if n in read}
        self.fields = [n for n in self.fields if n in read]


class Model:
    """EXPRESSIONS of one seed, their fields and parameters."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.batch = r.choice([1, 2, 2, 3, 4])
        self.sizes = [r.choice(SIZES), r.choice(SIZES)]
        n, m = self.sizes
        self.most = self.batch * (50000 if r.random() < 0.05 else 6000)
        shapes = [[n], [m], [n, 1], [r.randint(1, 4), m], [2 * n]]
        shapes += [[n, m]] if n * m * self.batch <= self.most else []
        self.fields = {k: self.draw(r, [self.batch, *s]) for k, s in zip("abcdef", shapes)}
        self.expressions = [Expression(r, i, self) for i in range(EXPRESSIONS)]
        self.weights = {f"e{e.number}.{k}": v.a for e in self.expressions
                        for k, v in e.params.items()}  # fmt: skip
        self.frozen = {f"e{e.number}.{n}" for e in self.expressions for n in e.frozen}
        self.width = sum(e.width for e in self.expressions)
        self.target = self.draw(r, [self.batch, self.width])
        self.ranks = 2 if self.batch % 2 == 0 and r.random() < 0.3 else 1
        self.micro = r.choice([1, 1, 1, self.batch // self.ranks])
        some = [f"e{i}" for i in r.sample(range(EXPRESSIONS), 4)]
        self.shard = [f"mesh = (dp = {self.ranks})"]
        self.shard += [f'"{n}" = unit' for n in some[: r.choice([0, 0, 2])]]
        self.shard += [f'"{n}" = recompute' for n in some[2 : r.choice([2, 2, 4])]]
        self.shard += r.choice([[]] * 6 + [[f"offload = ({s})"] for s in OFFLOADED])

    def draw(self, r, shape):
        """Numbers as f32 has them."""
        numbers = [r.gauss(0, 1) for _ in range(math.prod(shape))]
        return np.array(numbers, dtype=np.float32).reshape(shape).astype(np.float64)

    def text(self, precision):
        used = sorted({n for e in self.expressions for n in e.fields})
        fields = ", ".join(f'{n} = "{n}.npy"' for n in [*used, "t"])
        children = "; ".join(f"e{e.number} : E{e.number}" for e in self.expressions)
        calls = ", ".join(f"e{e.number}({', '.join(e.fields)})" for e in self.expressions)
        parts = [e.text() for e in self.expressions]
        parts += [f"module Net {{\n  {children}",
                  f"  forward({', '.join(used)}) = concat({calls}, axis = -1)\n}}",
                  "model = Net", f"data {{ train = npy({fields}); order = sequential }}",
                  f"train {{ loss = mse(model({', '.join(used)}), t); batch = {self.batch}",
                  f"  accumulate = {self.micro}",
                  f"  steps = 1; optimizer = sgd(lr = {RATE}); precision = {precision} }}",
                  f"shard {{ {'; '.join(self.shard)} }}"]  # fmt: skip
        return "\n".join(parts) + "\n"

    def write(self, precision):
        for n, a in {**self.fields, "t": self.target}.items():
            save_array(n + ".npy", "f", a.shape, a.ravel().tolist())
        save_weights("weights", {n: (list(a.shape), None) for n, a in self.weights.items()},
                     {n: a.ravel().tolist() for n, a in self.weights.items()})  # fmt: skip
        with open("net.fsd", "w", encoding="utf-8") as f:
            f.write(self.text(precision))

    def compute(self, near=False):
        """The loss, and gradients by name; `near`: where each number of fields, parameters and
        gradients is moved by 2^-22 of itself."""
        by = np.random.default_rng(self.r.randrange(2**32))

        def moved(a):
            return a * (1 + NEAR * by.choice([-1, 1], a.shape)) if near else a

        weights, fields = ({n: moved(a) for n, a in x.items()} for x in (self.weights, self.fields))
        leaves = {n: arrays.Array(a) for n, a in weights.items()}
        fields = {n: arrays.Array(a) for n, a in fields.items()}
        parts = []
        for e in self.expressions:
            own = {k: leaves[f"e{e.number}.{k}"] for k in e.params}
            parts.append(e.compute(own, fields))
        loss = arrays.mse(arrays.concat(*parts, axis=-1), arrays.Array(self.target))
        slopes = arrays.gradients(loss, list(leaves.values()), moved)
        return float(loss.a[0]), {n: g for n, g in zip(leaves, slopes) if n not in self.frozen}


def run(fsdp_run, r, options):
    """Loss of the step; gradients and weights are in files."""
    env = dict(os.environ)
    if not options and r.random() < 0.75:
        env["FSDP_CHECK"] = "memory"
    isa = r.choice([None, None, "plain", "avx2"])
    if isa:
        env["FSDP_CPU_ISA"] = isa
    command = [fsdp_run, "--threads", str(r.choice([1, 1, 3])), "-q", "--log", "log", "--load",
               "weights", "--dump-grads", "0=grads", "--save", "after", *options, "plan.bin"]
    subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    with open("log", encoding="utf-8") as f:
        loss = [e["loss"] for e in map(json.loads, f) if e["event"] == "step"][0]
    os.remove("log")
    return loss


def bytes_of(name):
    with open(name, "rb") as f:
        return f.read()


def distance(model, number, loaded, wanted, moved):
    """The largest distance in an expression, in units of how far its values move at most."""
    own = [n for n in wanted if n.startswith(f"e{number}.")]
    least = NEAR * max(np.abs(wanted[n]).max() for n in own)
    worst = 0.0
    for n in own:
        got = np.array(loaded[n].values).reshape(wanted[n].shape)
        unit = least + np.abs(moved[n] - wanted[n]).max()
        off = np.abs(got - wanted[n]).max() / unit
        worst = max(worst, off if math.isfinite(off) else math.inf)
    return worst


def against_doubles(model, loss):
    """By expression how far it is off, -1 for the loss of all."""
    wanted_loss, slopes = model.compute()
    moved_loss, moved = model.compute(near=True)
    after, near_after = ({n: a - RATE * s.get(n, 0) for n, a in model.weights.items()}
                         for s in (slopes, moved))  # fmt: skip
    grads, weights = st.load("grads"), st.load("after")
    unit = NEAR * abs(wanted_loss) + abs(moved_loss - wanted_loss)
    off = {-1: abs(loss - wanted_loss) / unit}
    for e in model.expressions:
        off[e.number] = max(distance(model, e.number, grads, slopes, moved),
                            distance(model, e.number, weights, after, near_after))  # fmt: skip
    return off


def try_seed(seed, fsdpc, fsdp_run, without, options):
    """The model, and what is wrong with it: texts by expression; and how far the worst one is off
    that is right."""
    model = Model(seed)
    r, wrong, worst = model.r, {}, 0.0
    half = seed % 4 == 3
    model.write("bf16" if half else "f32")
    try:
        subprocess.run([fsdpc, "compile", "-q", "net.fsd", "-o", "plan.bin"], check=True,
                       capture_output=True, text=True)  # fmt: skip
        subprocess.run([fsdpc, "check", "plan.bin"], check=True, capture_output=True, text=True)
        loss = run(fsdp_run, r, options)
        if not half:
            for number, off in against_doubles(model, loss).items():
                if off > TOLERANCE:
                    wrong[number] = f"off by {off:.3g}"
                else:
                    worst = max(worst, off)
            return model, wrong, worst
        first = st.load("after"), st.load("grads")
        passes = "fuse_elementwise" if options else FUSING
        subprocess.run([without, passes, "net.fsd", "plan.bin"], check=True, capture_output=True)
        other = run(fsdp_run, r, options)
        if loss != other:
            wrong[-1] = f"loss is {loss!r}, without fused ops {other!r}"
        for one, two in zip(first, (st.load("after"), st.load("grads"))):
            for n in one:
                if list(one[n].values) != list(two[n].values):
                    wrong[int(n.split(".")[0][1:])] = f"{n} has other bits than without fused ops"
    except subprocess.CalledProcessError as e:
        wrong[-1] = f"{' '.join(map(str, e.cmd))}: {e.stderr}"
    return model, wrong, worst


def main():
    fsdpc, fsdp_run, without = map(os.path.abspath, sys.argv[1:4])
    first, count = int(sys.argv[4]), int(sys.argv[5])
    bad, worst = 0, 0.0
    with tempfile.TemporaryDirectory(prefix="expressions-") as folder:
        os.chdir(folder)
        for seed in range(first, first + count):
            model, wrong, off = try_seed(seed, fsdpc, fsdp_run, without, sys.argv[6:])
            worst = max(worst, off)
            bad += len([k for k in wrong if k >= 0]) or len(wrong)
            for number, what in wrong.items():
                print(f"seed {seed}, expression {number}: {what}")
                if number >= 0:
                    print(model.expressions[number].text(), flush=True)
        os.chdir("/")
    print(f"worst {worst:.3g}", file=sys.stderr)
    print(f"{count * EXPRESSIONS} expressions, {bad} wrong")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
