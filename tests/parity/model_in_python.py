"""A model of random_model.py on tensors of tape.py: the statements of its classes, which are nearly
Python, become Python functions, and its instances objects that have their fields.

Says which parameters there are (of a tied one the name on the right), which are frozen, and
computes the loss and its gradients in double precision.
"""

import re

import tape


def python(line):
    """A statement of the language as one of Python."""

    def reshape(m):
        out = m.group(1)
        for dims in re.findall(r" as \[([^\]]*)\]", m.group(2)):
            out = f"({out}).reshape([{dims}])"
        return out

    return re.sub(r"\(([\w.]+)((?: as \[[^\]]*\])+)\)", reshape, line)


def linear(inp, out, bias=False):
    fields = [("weight", [out, inp], "normal(0.02)", "")]
    return fields + ([("bias", [out], "zeros", "")] if bias else [])


def embedding(n, dim):
    return [("weight", [n, dim], "normal(0.02)", "")]


def layer_norm(dim):
    return [("weight", [dim], "ones", ""), ("bias", [dim], "zeros", "")]


def rms_norm(dim):
    return [("weight", [dim], "ones", "")]


# Modules of the prelude: their parameters and what they compute.
PRELUDE = {
    "Linear": (linear, "linear(x, weight, bias)"),
    "Embedding": (embedding, "gather(weight, x)"),
    "LayerNorm": (layer_norm, "layer_norm(x, weight, bias)"),
    "RMSNorm": (rms_norm, "rms_norm(x, weight)"),
}


class Node:
    """An instance of a class. What its statements may name is in `names`."""

    def __init__(self, net, cls, path, args, frozen):
        self.net, self.path, self.frozen = net, path, frozen
        self.names, self.own = {**tape.FUNCTIONS, "rate": 0.0, **args}, {}
        net.nodes.append(self)
        if path:
            net.paths.append(path)
        if isinstance(cls, str):
            kind, given = re.match(r"(\w+)\((.*)\)", cls).groups()
            fields, body = PRELUDE[kind]
            self.names["bias"] = None
            self.fields(eval(f"f({given})", {"f": fields, "true": True, **args}))
            self.function("x", [f"return {body}"])
        else:
            kind = cls.name
            self.fields([(n, list(eval(f"({s},)", {}, args)), i, m) for n, s, i, m in cls.params])
            self.children(cls, args)
            for name, body in cls.methods:
                self.function("x", [f"return {body}"], name)
            self.function(cls.inputs, cls.body)
        net.kinds.add(kind)

    def __getattr__(self, name):
        return self.names[name]

    def fields(self, params):
        for name, shape, init, mark in params:
            path = f"{self.path}.{name}" if self.path else name
            self.own[name] = path
            self.net.shapes[path] = (shape, init)
            if self.frozen or "@frozen" in mark:
                self.net.frozen.add(path)

    def children(self, cls, args):
        before = self.path + "." if self.path else ""
        for fields, sub, width, count, mark in cls.children:
            inside = args if isinstance(sub, str) else {"d": eval(width, {}, args)}
            frozen = self.frozen or "@frozen" in mark
            for name in fields:
                paths = [f"{name}.{i}" for i in range(count)] if count else [name]
                nodes = [Node(self.net, sub, before + p, inside, frozen) for p in paths]
                self.names[name] = Array(nodes) if count else nodes[0]
        for left, right in cls.ties:
            (a, b), (c, d) = left.split("."), right.split(".")
            self.net.tied[self.names[a].own[b]] = self.names[c].own[d]

    def function(self, inputs, body, name="forward"):
        shape = re.match(r"(\w+): \[([^\]]*)\]", inputs)
        lines = [f"def {name}({re.sub(r': .[^]]*.', '', inputs)}):"]
        if shape:
            lines.append(f"    {shape[2].replace(', d', ', _')} = {shape[1]}.shape")
        for line in body:
            if isinstance(line, str):
                lines.append("    " + python(line))
            else:
                lines.append(f"    for {line[0]} in {line[1]}:")
                lines += ["        " + python(x) for x in line[2]]
        exec("\n".join(lines), self.names)

    def value(self, name):
        path = self.own[name]
        return self.net.values[self.net.tied.get(path, path)]

    def __call__(self, *args):
        return self.names["forward"](*args)

    def begin(self):
        """Statements find the parameters by name."""
        for name in self.own:
            self.names[name] = self.value(name)


class Array(list):
    """An array of instances; called with the rows of tape.dispatch, each gets its own."""

    def __call__(self, rows):
        return rows.through(self)


class Net:
    def __init__(self, root):
        self.shapes, self.frozen, self.paths, self.kinds, self.tied = {}, set(), [], set(), {}
        self.nodes = []
        self.root = Node(self, root, "", {}, False)
        for path, name in list(self.tied.items()):
            while name in self.tied:
                name = self.tied[name]
            self.tied[path] = name
        for path, name in self.tied.items():
            del self.shapes[path]
            if path in self.frozen:
                self.frozen.add(name)

    def gradients(self, weights, loss, parts, **fields):
        """The loss, and by parameter its gradient. Fields: name = (shape, values). `parts`: the
        samples of each micro-batch; each adds its terms of aux by its share of the targets."""
        tape.clear()
        self.values = {p: tape.leaf(s, weights[p]) for p, (s, _) in self.shapes.items()}
        for node in self.nodes:
            node.begin()
        names = {k: tape.leaf(s, v) for k, (s, v) in fields.items()}
        extra = []

        def model(x):
            by_sample = {}
            for part in parts:
                y = self.root(tape.stack(*(x[i] for i in part), axis=0))
                extra.append(sum(tape.TERMS, tape.constant(0.0)))
                tape.TERMS.clear()
                by_sample.update((i, y[k]) for k, i in enumerate(part))
            return tape.stack(*(by_sample[i] for i in sorted(by_sample)), axis=0)

        out = eval(loss, {**tape.FUNCTIONS, **names, "model": model})
        counted = [sum(v != -100 for i in part for v in names["b"][i].values()) for part in parts]
        for term, n in zip(extra, counted):
            out = out + n / sum(counted) * term
        moved = tape.gradients(out)
        slopes = {p: [moved[i] for i in t.at] for p, t in self.values.items()}
        return out.values()[0], {p: g for p, g in slopes.items() if p not in self.frozen}
