"""Random models: module classes with parameters of odd shapes, stored as they are, transposed,
flat, in pieces or as products, frozen and tied, read in several modules and several times; nested
classes and arrays of them; and a root around these, with ids or numbers as its input.

A class is written once: its text is that of the model file, and the same text, which is nearly
Python, is run on tensors of tape.py (model_in_python.py). So a model has two readers that share
nothing.
"""

import random


class Class:
    """module NAME(d) { fields  ties  forward(INPUTS) { body } }; `d` is the width of x."""

    def __init__(self, name, inputs="x: [B, T, d]"):
        self.name, self.inputs = name, inputs
        self.params, self.children, self.ties, self.body = [], [], [], []
        self.takes = None  # the shape of a second input
        self.helpers = []  # classes of its own
        self.methods = []  # besides forward: (name, expression of x)
        self.share = 1  # how many ranks, as a rule, can share out heads

    def param(self, name, shape, init="normal(0.5)", mark=""):
        self.params.append((name, shape, init, mark))
        return name

    def child(self, names, cls, width="d", count=None, mark=""):
        self.children.append((names, cls, width, count, mark))

    def text(self):
        lines = [f"  {n} : param[{s}] = {i}{m}" for n, s, i, m in self.params]
        for names, cls, width, count, mark in self.children:
            of = cls if isinstance(cls, str) else f"{cls.name}({width})"
            lines.append(f"  {', '.join(names)} : {of}{f'[{count}]' if count else ''}{mark}")
        lines += [f"  tie {a} = {b}" for a, b in self.ties]
        lines += [f"  {name}(x) = {body}" for name, body in self.methods]
        lines.append(f"  forward({self.inputs}) {{")
        for line in self.body:
            if not isinstance(line, str):
                line = f"for {line[0]} in {line[1]} {{ {'; '.join(line[2])} }}"
            lines.append("    " + line)
        head = f"module {self.name}(d) {{" if self.name != "Net" else "module Net {"
        return "\n".join([*(h.text() for h in self.helpers), head, *lines, "  }", "}"])


# ---- parameters


def stored(r, c, name, rows, cols):
    """An expression of a matrix [rows, cols], and the parameters behind it."""
    mark = r.choice(["", "", "", "", " @f32", " @no_decay"])
    kind = r.choice(["plain", "plain", "transposed", "flat", "deep", "sliced", "one of", "product",
                     "joined", "frozen part", "turned"])  # fmt: skip
    if kind == "plain" or (kind == "joined" and rows == 1):
        return c.param(name, f"{rows}, {cols}", mark=mark)
    if kind == "transposed":
        return f"transpose({c.param(name, f'{cols}, {rows}', mark=mark)})"
    if kind == "flat":
        return f"({c.param(name, f'({rows}) * ({cols})', mark=mark)} as [{rows}, {cols}])"
    if kind == "deep":
        c.param(name, f"{cols}, 1, {rows}", mark=mark)
        return f"({name} as [({rows}) * ({cols})] as [{rows}, {cols}])"
    if kind == "sliced":
        c.param(name, f"{rows} + 2, {cols} + 1", mark=mark)
        return r.choice([f"{name}[1:-1, 1:]", f"{name}[2:, :-1]"])
    if kind == "one of":
        c.param(name, f"3, {rows}, {cols}", mark=mark)
        return r.choice([f"({name}[0] + {name}[2] - 0.5 * {name}[1])", f"({name}[1] * {name}[-1])"])
    if kind == "product":
        c.param(name, f"{rows}, {cols}", mark=mark)
        return f"({name} * {c.param(name + 's', f'{rows}, 1', 'ones')})"
    if kind == "joined":
        c.param(name, f"1, {cols}")
        c.param(name + "m", f"{rows} - 1, {cols}", mark=mark)
        return f"concat({name}, {name}m, axis = 0)"
    if kind == "frozen part":
        c.param(name, f"{rows}, {cols}", mark=mark)
        return f"({name} + {c.param(name + 'f', f'{rows}, {cols}', mark=' @frozen')})"
    c.param(name, f"{cols}, {rows}, 2", mark=mark)
    return f"sum(transpose({name}, [2, 1, 0]), axis = 0)[0]"


def vector(r, c, name, n, init="normal(0.5)"):
    mark = r.choice(["", "", "", " @frozen", " @f32"])
    shape, read = r.choice([(n, name), (n, name), (f"{n}, 1", f"({name} as [{n}])"),
                            (f"{n} + 3", f"{name}[1:-2]"), (f"2, {n}", f"{name}[1]")])
    c.param(name, shape, init, mark)
    return read


# ---- leaves: from x [B, T, d] to the same shape

# What attention reads: scores of hundreds leave gradients to rounding alone.
BOUNDED = "u = x / (1 + mean(abs(x), axis = -1))"
# Which keys are seen, by the numbers: some, all, or none of a sample.
MASK = ["_, m = topk(x[:, :, :2], 1)", "m = (m as [B, T])"]


def feed_forward(r, c, size):
    h = r.choice(["d", "d + 1", "2 * d", str(r.randint(2, 9))])
    w, v = stored(r, c, "w", h, "d"), stored(r, c, "v", "d", h)
    bias = f", {vector(r, c, 'b', h)}" if r.random() < 0.6 else ""
    act = r.choice(["relu({})", "silu({})", "gelu({})", "gelu({}, approx = tanh)", "tanh({})",
                    "sigmoid({})"])
    c.body += ["h = " + act.format(f"linear(x, {w}{bias})"), f"return x + linear(h, {v})"]


def gated(r, c, size):
    w, v = stored(r, c, "w", "d", "d"), stored(r, c, "v", "d", "d")
    c.body += [f"return x + linear(silu(linear(x, {w})) * sigmoid(linear(x, {v})), {w})"]


def gated_apart(r, c, size):
    """The same by a method that others may call."""
    w, v = stored(r, c, "w", "d", "d"), stored(r, c, "v", "d", "d")
    c.methods.append(("gate", f"sigmoid(linear(x, {v}))"))
    c.methods.append(("inner", f"linear(silu(x) * gate(x), {w})"))
    c.body += ["return x + inner(x)"]


def norm(r, c, size):
    w = vector(r, c, "w", "d", r.choice(["ones", "normal(0.5)"]))
    w = r.choice([w, w, f"(1 + {w})"])
    if r.random() < 0.5:
        bias = f", {vector(r, c, 'b', 'd')}" if r.random() < 0.6 else ""
        c.body += [f"return layer_norm(x, {w}{bias}, eps = 1e-3)"]
    else:
        c.body += [f"return rms_norm(x, {w}, eps = 1e-3)"]


def heads(r, c, size):
    counts = [(n, g) for n in (1, 2, 3, 4) for g in (1, 1, 2, 4) if n * g <= 8]
    n, group = r.choice([(n, g) for n, g in counts if n * g % c.share == 0])
    k = 2 * r.randint(1, 2)
    c.body.append(BOUNDED)
    packed = group == 1 and r.random() < 0.5
    q, kv, times = n * group, n, "B, T"
    if packed:
        c.body += [f"p = linear(u, {stored(r, c, 'w', 3 * q * k, 'd')})",
                   f"q, k, v = split((p as [{times}, 3, {q}, {k}]), axis = 2)"]
    else:
        for name, count in (("q", q), ("k", kv), ("v", kv)):
            c.body += [f"{name} = linear(u, {stored(r, c, 'w' + name, count * k, 'd')})",
                       f"{name} = ({name} as [{times}, {count}, {k}])"]
    if r.random() < 0.4:
        c.body += ["q = rope(q)", "k = rope(k)"]
    own = random.Random("".join(c.body))  # the draws of r stay what they were
    more = r.choice(["", ", causal = true", ", scale = 0.3"])
    if r.random() < 0.3:
        c.param("near", f"{q}, {size}, {size}")
        more += ", bias = near"
    if r.random() < 0.4:
        c.body += MASK
        more += own.choice([", mask = m", ", documents = m"])
    more += own.choice(["", ", window = 2", f", window = {size}", ", cap = 0.4"])
    c.body += [f"o = attention(q, k, v{more})", f"o = (o as [{times}, {q * k}])",
               f"return x + linear(o, {stored(r, c, 'o_w', 'd', q * k)})"]


def formula(r, c, size):
    for name, shape in (("a", "d"), ("g", "1"), ("t", f"{size}, 1"), ("f", f"{size}, d")):
        if r.random() < 0.6 or name == "a":
            c.param(name, shape, mark=r.choice(["", "", " @frozen"]) if name != "a" else "")
    names = [p[0] for p in c.params]
    unary = ["tanh({})", "sigmoid({})", "silu({})", "sin({})", "cos({})", "abs({})", "relu({})",
             "exp(-abs({}))", "rsqrt(1 + {0} * {0})", "sqrt(1 + {0} * {0})", "log(2 + abs({}))",
             "clamp({}, -0.7, 1.1)", "gelu({})", "dropout({}, rate)"]  # fmt: skip
    both = ["({} + {})", "({} - {})", "({} * {})", "max({}, {})", "min({}, {})",
            "{} / (2 + abs({}))", "where({0} > {1}, {0}, 0.3 * {1})"]  # fmt: skip

    def term(depth, must):
        if depth == 0:
            return must.pop() if must else r.choice(["x", "x", *names, "0.7"])
        if r.random() < 0.4:
            inside = term(depth - 1, must)
            return r.choice(unary).format("x" if inside == "0.7" else inside)
        return r.choice(both).format(term(depth - 1, must), term(depth - 1, must))

    must = [*names, "x"]
    out = []
    while must or not out:
        out.append(term(2, must))
    least = r.choice(["abs(y)", "mean(abs(y), axis = -1)", "sqrt(mean(y * y, axis = [1, 2]))"])
    c.body += [f"y = {' + '.join(out)}", f"return 0.5 * x + y / (1 + {least})"]


def mixer(r, c, size):
    if r.random() < 0.5:
        m = stored(r, c, "m", size, size)
        c.body += [f"return x + transpose(linear(transpose(x), {m}))"]
    else:
        c.param("m", "d")
        c.body += [BOUNDED,
                   f"s = softmax(matmul(u * m, transpose(u)) * {r.choice([0.3, 1])})",
                   "return x + matmul(s, x)"]


def moved(r, c, size):
    c.param("w", "d", r.choice(["ones", "normal(0.5)"]))
    c.body += r.choice([
        ["return x + w * concat(x[:, :, 1:], x[:, :, :1])"],
        ["a, b = split(x, axis = -1, sizes = [1, d - 1])", "return w * concat(b, tanh(a)) + x"],
        ["return x + w * concat(x[:, 1:], x[:, :1], axis = 1)"],
        ["s = stack(x, w * x, axis = 2)", "return sum(s, axis = 2)[:, :, 0] * 0.5 - x"],
    ])  # fmt: skip


def pooled(r, c, size):
    c.param("w", "d", r.choice(["ones", "normal(0.5)"]), r.choice(["", "", " @no_decay"]))
    c.body.append("return " + r.choice([
        "w * (x - mean(x, axis = -1))", "w * x / sqrt(1 + mean(x * x, axis = [1, 2]))",
        "x + w * mean(x, axis = 1)", "x + w * max(x, axis = 1)", "x - w * min(x, axis = -1)",
        "x + w * softmax(x)", "x + w * stop_gradient(sum(x, axis = 1))"]))  # fmt: skip


def placed(r, c, size):
    c.param("pos", f"{size + r.randint(0, 3)}, d")
    c.body += [r.choice(["return x + gather(pos, iota(T))", "return x * gather(pos, iota(T)) + x",
                         f"return x + pos[0:{size}]"])]


def prelude(r, c, size):
    bias = r.choice([", bias = true", ""])
    c.child(["fc"], f"Linear(d, d{bias})", mark=r.choice(["", "", " @no_decay"]))
    c.child(["ln"], r.choice(["LayerNorm(d)", "RMSNorm(d)"]), mark=r.choice(["", " @frozen"]))
    c.body += [r.choice(["return x + fc(ln(x))", "return ln(x + fc(relu(fc(x))))",
                         "return x + linear(gelu(fc(ln(x))), transpose(fc.weight))"])]


def given(r, c, size):
    """Reads a parameter of whoever calls it."""
    c.inputs += ", s"
    c.takes = r.choice(["d", "d, d"])
    c.param("w", "d")
    c.body += ["return x + w * linear(x, s)" if c.takes == "d, d" else
               "return w * x + tanh(x * s)"]


def merged(r, c, size):
    """Positions and elements as one axis."""
    m = stored(r, c, "m", f"{size} * d", f"{size} * d")
    c.body += [f"y = tanh(linear((x as [B, T * d]), {m}))", "return x + (y as [B, T, d])"]


def mixed_weights(r, c, size):
    c.param("w", "d, d", mark=r.choice(["", "", " @f32"]))
    c.param("table", f"{size}, d", mark=r.choice(["", "", " @frozen"]))
    c.body += [r.choice(["return x + linear(x, softmax(w)) * gather(tanh(table), iota(T))",
                         "return x + linear(x, w * w) + softmax(table)",
                         "return x + linear(linear(x, w), transpose(w)) * table[-1]",
                         "return x + linear(x, transpose(w)) * table[0] + linear(x, w)"])]


def chosen(r, c, size):
    n, k = r.randint(3, 5), r.randint(1, 2)
    c.body += [f"s = linear(x, {stored(r, c, 'w', n, 'd')})", f"p, i = topk(softmax(s), {k})"]
    if r.random() < 0.5:
        c.body += [f"aux(load_balance(s, i), weight = {r.choice([0.1, 2.0])})"]
    if r.random() < 0.5:
        c.param("table", f"{n}, d")
        c.body += ["y = gather(table, i)", f"y = y * (p as [B, T, {k}, 1])",
                   "return x + sum(y, axis = 2)[:, :, 0]"]
    else:
        e = Class("X" + c.name)
        h = r.randint(2, 5)
        e.params += [("a", f"{h}, d", "normal(0.5)", ""), ("b", f"d, {h}", "normal(0.5)", "")]
        e.inputs, e.body = "x", ["return linear(silu(linear(x, a)), b)"]
        c.helpers.append(e)
        c.child(["experts"], e, count=n)
        c.body += ["return x + combine(experts(dispatch(x, i)), i, p / sum(p, axis = -1))"]


def near(r, c, size):
    """T5's attention: a bias by distance, the scores not scaled."""
    n, k = c.share * r.choice([1, 2, 3] if c.share == 1 else [1]), r.randint(1, 3)
    c.param("near", f"{r.choice([4, 8])}, {n}")
    two = r.choice(["true", "false"])
    c.body += [BOUNDED, f"b = relative_bias(near, T, T, max_distance = 16, bidirectional = {two})"]
    for name in "qkv":
        c.body += [f"{name} = linear(u, {stored(r, c, 'w' + name, n * k, 'd')})",
                   f"{name} = ({name} as [B, T, {n}, {k}])"]
    seen = ""
    if r.random() < 0.4:
        c.body += MASK
        seen = ", mask = m"
    c.body += [f"o = attention(q, k, v, bias = b, scale = 1.0{seen})",
               f"o = (o as [B, T, {n * k}])",
               f"return x + linear(o, {stored(r, c, 'o_w', 'd', n * k)})"]


LEAVES = [gated_apart, gated_apart, merged, mixed_weights, chosen, chosen, near, feed_forward,
          feed_forward, gated, norm, norm, heads, heads, formula, formula, mixer, moved, pooled,
          placed, prelude, given]  # fmt: skip


# ---- nests and the root


def calls(r, c, classes, width="d", fields="abcde"):
    """Fields of some classes, in any order, and the statements that call them."""
    lines = []
    for name in fields[: r.randint(1, 3)]:
        cls = r.choice(classes)
        count = r.choice([None, None, None, 2, 3])
        names = [name] if count or r.random() < 0.7 else [name, name + "2"]
        c.child(names, cls, width, count, r.choice(["", "", "", "", "", " @frozen", " @no_decay"]))
        more = ""
        if cls.takes:
            c.param(name + "_s", cls.takes.replace("d", width))
            more = f", {name}_s"
        if count:
            lines.append(("l", name, [f"y = l(y{more})"]))
            if r.random() < 0.3:
                lines.append(f"y = {name}[{r.randrange(count)}](y{more})")
        else:
            lines += [f"y = {f}(y{more})" for f in names]
        if not count and cls.methods and r.random() < 0.7:
            lines.append(f"y = y + 0.3 * {name}.inner(y)")
        if not count and ("w", "d", "normal(0.5)", "") in cls.params and r.random() < 0.5:
            lines.append(f"y = y + 0.3 * {name}.w")
        twins = [p for p in cls.params if p[3] == ""] if len(names) > 1 else []
        if twins and r.random() < 0.6:
            p = r.choice(twins)[0]
            c.ties.append((f"{names[1]}.{p}", f"{names[0]}.{p}"))
    tie_others(r, c)
    again = [line for line in lines if isinstance(line, str)]
    for _ in range(r.randint(0, 2)):
        if again:
            lines.insert(r.randrange(len(lines) + 1), r.choice(again))
    r.shuffle(c.children)
    return lines


def tie_others(r, c):
    """A parameter of one field and one of another class are the same."""
    of = {n: cls for names, cls, _, count, _ in c.children if not count for n in names}
    pairs = [(f"{a}.{p[0]}", f"{b}.{q[0]}") for a, x in of.items() for b, y in of.items()
             if x is not y and not isinstance(x, str) and not isinstance(y, str)
             for p in x.params for q in y.params if p[1] == q[1] and p[2:] == q[2:]]  # fmt: skip
    if pairs and r.random() < 0.5 and not c.ties:
        c.ties.append(r.choice(pairs))


def nest(r, c, classes):
    c.body += ["y = x", *calls(r, c, classes)]
    if r.random() < 0.4:
        c.body += [f"y = y + linear(x, {stored(r, c, 'own', 'd', 'd')})"]
    c.body += [r.choice(["return ", "return x + "]) + "y / (1 + mean(abs(y), axis = -1))"]


class Model:
    """The classes of a random model, and its text except the sections."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.tokens = r.random() < 0.5
        self.width, self.time = r.randint(2, 7), r.randint(2, 4)
        if r.random() < 0.1:
            self.width = r.choice([16, 17, 33])
        self.vocab, self.features = r.randint(3, 8), r.randint(2, 5)
        self.share = r.choice([1, 2, 2, 3, 4])
        self.classes = []
        for i in range(r.randint(2, 4)):
            c = Class("LMNO"[i])
            c.share = self.share
            r.choice(LEAVES)(r, c, self.time)
            self.classes.append(c)
        for i in range(r.randint(0, 2)):
            c = Class("PQ"[i])
            nest(r, c, list(self.classes))
            self.classes.append(c)
        self.root = Class("Net")
        self.make_root(r, self.root)
        self.add_means(random.Random(f"means of {seed}"))

    def add_means(self, r):
        """Means over the batch that the loss has as terms."""
        for c in self.classes:
            if r.random() < 0.06:
                of = r.choice(["x * x", "abs(x)", "tanh(x)", "log(2 + x * x)"])
                c.body.insert(0, f"aux(mean({of}), weight = {r.choice([-0.2, 0.1, 1])})")

    def make_root(self, r, c):
        d, t, v = self.width, self.time, self.vocab
        c.inputs = "ids: [B, T]" if self.tokens else "f: [B, F]"
        if self.tokens and r.random() < 0.6:
            mark = r.choice(["", "", " @frozen", " @no_decay"])
            c.child(["e"], f"Embedding({v}, {d})", mark=mark)
            c.body.append("y = e(ids)")
            table = "e.weight"
        elif self.tokens:
            c.body.append(f"y = gather({stored(r, c, 'e', v, d)}, ids)")
            table = stored(r, c, "h", v, d)
        else:
            first = stored(r, c, "first", t * d, self.features)
            c.body += [f"y = linear(f, {first})", f"y = (y as [B, {t}, {d}])"]
            table = stored(r, c, "h", v, d)
        c.body += calls(r, c, self.classes, str(d), "mnopq")
        c.body += ["y = y / (1 + mean(abs(y), axis = -1))"]
        if not self.tokens:
            c.body += ["y = mean(y, axis = 1)[:, 0]"]
        head = r.random()
        if head < 0.5 and self.tokens and table == "e.weight":
            c.child(["last"], f"Linear({d}, {v}, bias = true)")
            c.ties += [("last.weight", table)] if r.random() < 0.6 else []
            c.body.append("return last(y)")
        else:
            if r.random() < 0.4:
                table += f", {vector(r, c, 'h_b', str(v))}"
            c.body.append(f"return linear(y, {table})")
        r.shuffle(c.params)

    def text(self):
        return "\n".join(c.text() for c in [*self.classes, self.root]) + "\nmodel = Net\n"
