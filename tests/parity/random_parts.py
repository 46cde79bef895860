"""Random formulas that split axes and join parts, as the text of a model: slices, splits,
concatenations and stacks between sums, products and functions, with widths that are not
multiples of a vector. fused.py trains them with and without fused ops."""

import random
import re

UNARY = ["tanh({})", "-{}", "silu({})", "sin({})", "0.5 * {}", "1 + abs({})"]
BINARY = ["{} * {}", "{} + {}", "{} - {}", "max({}, {})", "{} / (2 + {} ** 2)"]


class Parts:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.width = [], {"x": self.r.choice([6, 8, 12, 20, 30])}
        self.params = []

    def let(self, text, width):
        name = f"v{len(self.width)}"
        self.lines.append(f"{name} = {text}")
        self.width[name] = width
        return name

    def any(self):
        """mostly of the last ones"""
        return self.r.choice(list(self.width)[-4:])

    def like(self, width):
        """a value of that width, broadcast or cut if need be"""
        same = [n for n in self.width if self.width[n] == width]
        wider = [n for n in self.width if self.width[n] > width]
        kind = self.r.random()
        if same and kind < 0.6:
            return self.r.choice(same)
        if wider and kind < 0.8:
            name = self.r.choice(wider)
            start = self.r.randrange(self.width[name] - width + 1)
            return self.let(f"{name}[:, :, {start} : {start + width}]", width)
        self.params.append(f"p{len(self.params)} : param[{width}] = normal(0.5)")
        return self.params[-1].split()[0]

    def halves(self):
        name = self.any()
        width = self.width[name]
        if width % 2:
            return
        a = self.let(f"{name}[:, :, : {width // 2}]", width // 2)
        b = self.let(f"{name}[:, :, {width // 2} :]", width // 2)
        self.let(f"concat(-{b}, {a})", width)

    def neighbours(self):
        name, n = self.any(), self.r.choice([2, 3])
        width = self.width[name]
        if width % n:
            return
        inner = self.r.random() < 0.5
        form = f"[B, T, {width // n}, {n}]" if inner else f"[B, T, {n}, {width // n}]"
        axis = 3 if inner else 2
        first = len(self.width)
        names = [f"v{first + k}" for k in range(n)]
        self.lines.append(f"{', '.join(names)} = split({name} as {form}, axis = {axis})")
        self.width.update({v: width // n for v in names})
        stacked = ", ".join(f"{names[k]} * tanh({names[k - 1]})" for k in range(n))
        self.let(f"stack({stacked}, axis = {axis}) as [B, T, {width}]", width)

    def step(self):
        kind = self.r.randrange(6)
        a = self.any()
        if kind == 0:
            self.let(self.r.choice(UNARY).format(a), self.width[a])
        elif kind <= 2:
            self.let(self.r.choice(BINARY).format(a, self.like(self.width[a])), self.width[a])
        elif kind == 3:
            self.halves()
        elif kind == 4:
            self.neighbours()
        elif sum(self.width[n] for n in (a, self.any())) < 60:
            parts = [a, self.any()] + [self.any()] * self.r.randrange(2)
            self.let(f"concat({', '.join(parts)})", sum(self.width[n] for n in parts))

    def text(self):
        D = self.width["x"]
        for _ in range(self.r.randrange(6, 16)):
            self.step()
        text = "\n".join(self.lines)
        unread = [n for n in self.width if not re.search(rf"\b{n}\b", text.replace(f"{n} = ", ""))]
        last = unread[0] if len(unread) == 1 else f"concat({', '.join(unread or ['x', 'x'])})"
        wide = sum(self.width[n] for n in unread or ["x", "x"])
        forward = "\n    ".join(self.lines + [f"return x + out({last})"])
        params = "\n  ".join(self.params)
        return f"""config {{ D = {D}; V = 257 }}
module Parts {{
  out : Linear({wide}, D)
  {params}
  forward(x: [B, T, D]) {{
    {forward}
  }}
}}
module Net {{
  wte : Embedding(V, D)
  mix : Parts
  head : Linear(D, V)
  forward(ids: [B, T]) = head(mix(wte(ids)))
}}
model = Net
data  {{ train = text("t.txt"); length = 10 }}
train {{ loss = cross_entropy(model(inputs), targets); batch = 12; steps = 3
        optimizer = adamw(lr = 1e-2) }}
shard {{ unit = [Parts] }}
"""
