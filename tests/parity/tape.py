"""Tensors of Python floats that remember how they were computed, so that gradients follow.

Every element is a number on a tape, with its parents and the slopes to them; `gradients` walks the
tape backwards. Functions that only move elements (reshapes, transpositions, slices, rows of a
table, broadcasts) move references to the tape and need no rule. Nothing here is taken from the
compiler: the functions are those of the language, by the formulas of docs/reference.md.
"""

import math
import operator

VALUES, PARENTS, SLOPES = [], [], []
TERMS = []  # what aux adds to the loss of the samples at hand


def clear():
    for x in (VALUES, PARENTS, SLOPES, TERMS):
        x.clear()


def put(value, parents=(), slopes=()):
    VALUES.append(value)
    PARENTS.append(parents)
    SLOPES.append(slopes)
    return len(VALUES) - 1


def gradients(loss):
    """By place on the tape: how much the loss, a tensor of one element, moves with it."""
    out = [0.0] * len(VALUES)
    out[loss.at[0]] = 1.0
    for i in range(len(VALUES) - 1, -1, -1):
        if out[i]:
            for parent, slope in zip(PARENTS[i], SLOPES[i]):
                out[parent] += out[i] * slope
    return out


def strides(shape):
    out = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        out[i] = out[i + 1] * shape[i + 1]
    return out


def places(shape, steps, start=0):
    """start + the sum of index * step, for each index of the shape in order."""
    out = [start]
    for n, step in zip(shape, steps):
        out = [at + i * step for at in out for i in range(n)]
    return out


class Tensor:
    def __init__(self, shape, at):
        self.shape, self.at = list(shape), at
        assert len(at) == math.prod(shape), (shape, len(at))

    def values(self):
        return [VALUES[i] for i in self.at]

    def taken(self, shape, which):
        return Tensor(shape, [self.at[i] for i in which])

    def reshape(self, shape):
        return Tensor(shape, self.at)

    def broadcast(self, shape):
        own = [1] * (len(shape) - len(self.shape)) + self.shape
        assert all(n in (1, m) for n, m in zip(own, shape)), (self.shape, shape)
        steps = [0 if n == 1 else s for n, s in zip(own, strides(own))]
        return self if self.shape == list(shape) else self.taken(shape, places(shape, steps))

    def __getitem__(self, index):
        index = list(index) if isinstance(index, tuple) else [index]
        index += [slice(None)] * (len(self.shape) - len(index))
        start, shape, steps = 0, [], []
        for i, n, s in zip(index, self.shape, strides(self.shape)):
            if isinstance(i, slice):
                first, last, _ = i.indices(n)
                start, shape, steps = start + first * s, shape + [last - first], steps + [s]
            else:
                start += (i % n) * s
        return self.taken(shape, places(shape, steps, start))

    def __add__(self, other):
        return both(self, other, operator.add, lambda x, y: (1.0, 1.0))

    def __sub__(self, other):
        return both(self, other, operator.sub, lambda x, y: (1.0, -1.0))

    def __mul__(self, other):
        return both(self, other, operator.mul, lambda x, y: (y, x))

    def __truediv__(self, other):
        return both(self, other, operator.truediv, lambda x, y: (1 / y, -x / (y * y)))

    def __radd__(self, other):
        return constant(other) + self

    def __rsub__(self, other):
        return constant(other) - self

    def __rmul__(self, other):
        return constant(other) * self

    def __rtruediv__(self, other):
        return constant(other) / self

    def __neg__(self):
        return constant(-1.0) * self

    def __gt__(self, other):
        return both(self, other, lambda x, y: float(x > y), lambda x, y: (0.0, 0.0))

    def __lt__(self, other):
        return constant(other) > self if not isinstance(other, Tensor) else other > self


def leaf(shape, values):
    return Tensor(shape, [put(float(v)) for v in values])


def constant(x):
    return x if isinstance(x, Tensor) else leaf([], [x])


def both(a, b, f, slopes):
    """f of two values, element by element."""
    a, b = constant(a), constant(b)
    n = max(len(a.shape), len(b.shape))
    wide = [[1] * (n - len(t.shape)) + t.shape for t in (a, b)]
    shape = [y if x == 1 else x for x, y in zip(*wide)]
    a, b, out = a.broadcast(shape), b.broadcast(shape), []
    for i, j in zip(a.at, b.at):
        x, y = VALUES[i], VALUES[j]
        out.append(put(f(x, y), (i, j), slopes(x, y)))
    return Tensor(shape, out)


def each(f, slope):
    """A function of the elements; slope gets the element and the result."""

    def run(x):
        if not isinstance(x, Tensor):
            return f(x)
        out = []
        for i in x.at:
            y = f(VALUES[i])
            out.append(put(y, (i,), (slope(VALUES[i], y),)))
        return Tensor(x.shape, out)

    return run


def dot(a, b):
    """The sum of the products of two equally long lists of places."""
    x, y = [VALUES[i] for i in a], [VALUES[i] for i in b]
    return put(sum(map(operator.mul, x, y)), (*a, *b), (*y, *x))


def rows(t):
    n = t.shape[-1]
    return [t.at[i : i + n] for i in range(0, len(t.at), n)]


exp = each(math.exp, lambda x, y: y)
log = each(math.log, lambda x, y: 1 / x)
sqrt = each(math.sqrt, lambda x, y: 0.5 / y)
rsqrt = each(lambda x: 1 / math.sqrt(x), lambda x, y: -0.5 * y / x)
tanh = each(math.tanh, lambda x, y: 1 - y * y)
sin = each(math.sin, lambda x, y: math.cos(x))
cos = each(math.cos, lambda x, y: -math.sin(x))
abs_ = each(abs, lambda x, y: math.copysign(1.0, x))
relu = each(lambda x: max(x, 0.0), lambda x, y: float(x > 0))
sigmoid = each(lambda x: 1 / (1 + math.exp(min(-x, 700))), lambda x, y: y * (1 - y))
erf = each(math.erf, lambda x, y: 2 / math.sqrt(math.pi) * math.exp(-x * x))


def silu(x):
    return x * sigmoid(x)


def gelu(x, approx="erf"):
    if approx == "erf":
        return 0.5 * x * (1 + erf(x / math.sqrt(2)))
    return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def dropout(x, p):
    assert p == 0, "what is dropped is random"
    return x


def stop_gradient(x):
    return leaf(x.shape, x.values())


def reduced(x, axis, f):
    """Axes become 1: f makes a place of the list of places along them."""
    count = len(x.shape)
    axes = {a % count for a in ([axis] if isinstance(axis, int) else axis)}
    steps, shape = strides(x.shape), [1 if a in axes else n for a, n in enumerate(x.shape)]
    inside = places([x.shape[a] for a in axes], [steps[a] for a in axes])
    outside = places(shape, [0 if a in axes else s for a, s in enumerate(steps)])
    return Tensor(shape, [f([x.at[o + i] for i in inside]) for o in outside])


def sum_(x, axis):
    return reduced(x, axis, lambda at: put(sum(VALUES[i] for i in at), at, [1.0] * len(at)))


def mean(x, axis=None):
    total = sum_(x, range(len(x.shape)) if axis is None else axis)
    return total * (len(total.at) / len(x.at))


def max_(x, y=None, axis=None):
    if y is not None:
        return where(x > y, x, y)
    return reduced(x, axis, lambda at: max(at, key=lambda i: VALUES[i]))


def min_(x, y=None, axis=None):
    if y is not None:
        return where(x > y, y, x)
    return reduced(x, axis, lambda at: min(at, key=lambda i: VALUES[i]))


def clamp(x, least, most):
    return min_(max_(x, least), most)


def where(which, x, y):
    """An element of x or one of y."""
    parts, n = [constant(t) for t in (which, x, y)], 0
    n = max(len(t.shape) for t in parts)
    wide = [[1] * (n - len(t.shape)) + t.shape for t in parts]
    shape = [max(sizes) for sizes in zip(*wide)]
    w, x, y = (t.broadcast(shape) for t in parts)
    return Tensor(shape, [j if VALUES[i] else k for i, j, k in zip(w.at, x.at, y.at)])


def softmax(x):
    e = exp(x - stop_gradient(max_(x, axis=-1)))
    return e / sum_(e, -1)


def linear(x, w, bias=None):
    out = [dot(a, b) for a in rows(x) for b in rows(w)]
    y = Tensor(x.shape[:-1] + [w.shape[0]], out)
    return y if bias is None else y + bias


def transpose(x, axes=None):
    n = len(x.shape)
    axes = axes or [*range(n - 2), n - 1, n - 2]
    steps, shape = strides(x.shape), [x.shape[a] for a in axes]
    return x.taken(shape, places(shape, [steps[a] for a in axes]))


def matmul(a, b):
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    left, right, out = rows(a), rows(transpose(b)), []
    for i in range(len(a.at) // (m * k)):
        out += [dot(x, y) for x in left[i * m : i * m + m] for y in right[i * n : i * n + n]]
    return Tensor(a.shape[:-1] + [n], out)


def gather(table, ids):
    wide, chosen = rows(table), [int(v) for v in ids.values()]
    return Tensor(ids.shape + [table.shape[1]], [i for c in chosen for i in wide[c]])


def concat(*parts, axis=-1):
    axis %= len(parts[0].shape)
    inner = [math.prod(t.shape[axis:]) for t in parts]
    at = []
    for o in range(math.prod(parts[0].shape[:axis])):
        for t, n in zip(parts, inner):
            at += t.at[o * n : o * n + n]
    shape = list(parts[0].shape)
    shape[axis] = sum(t.shape[axis] for t in parts)
    return Tensor(shape, at)


def stack(*parts, axis=-1):
    axis %= len(parts[0].shape) + 1
    wide = [t.shape[:axis] + [1] + t.shape[axis:] for t in parts]
    return concat(*(t.reshape(s) for t, s in zip(parts, wide)), axis=axis)


def split(x, axis, sizes=None):
    axis %= len(x.shape)
    before, at, out = (slice(None),) * axis, 0, []
    if sizes is None:
        return [x[(*before, i)] for i in range(x.shape[axis])]
    for n in sizes:
        out.append(x[(*before, slice(at, at + n))])
        at += n
    return out


def iota(n):
    return leaf([n], range(n))


def layer_norm(x, weight, bias=None, eps=1e-5):
    y = x - mean(x, -1)
    y = y * rsqrt(mean(y * y, -1) + eps) * weight
    return y if bias is None else y + bias


def rms_norm(x, weight, eps=1e-6):
    return x * rsqrt(mean(x * x, -1) + eps) * weight


def attention(q, k, v, causal=False, scale=None, bias=None, mask=None, window=None, cap=None,
              documents=None):  # fmt: skip
    """q [B, T, H, h], k and v [B, S, K, h]: softmax(q k^T * scale + bias) v of each head, over the
    keys that are seen."""
    repeat = q.shape[2] // k.shape[2]
    heads = [i // repeat for i in range(q.shape[2])]
    q, k, v = (transpose(t, [0, 2, 1, 3]) for t in (q, k, v))
    k, v = (stack(*(t[:, i] for i in heads), axis=1) for t in (k, v))
    s = matmul(q, transpose(k)) * (scale or 1 / math.sqrt(q.shape[3]))
    s = s if cap is None else cap * tanh(s / cap)
    s = s if bias is None else s + bias
    n, m = s.shape[2:]
    near = window or n + m
    seen = [(j <= i or not causal) and abs(i - j) < near for i in range(n) for j in range(m)]
    seen = leaf([n, m], [float(x) for x in seen])
    if mask is not None:
        seen = seen * leaf([mask.shape[0], 1, 1, m], [float(x != 0) for x in mask.values()])
    if documents is not None:
        ids, count = list(documents.values()), documents.shape[0]
        same = [float(ids[b * n + i] == ids[b * n + j])
                for b in range(count) for i in range(n) for j in range(m)]  # fmt: skip
        seen = seen * leaf([count, 1, n, m], same)
    weights = where(seen, softmax(where(seen, s, -1e30)), 0.0)
    return transpose(matmul(weights, v), [0, 2, 1, 3])


def rope(x, base=10000.0):
    """Element i and element i + half of a head [B, T, H, h] turn by t * base^(-i / half)."""
    time, size = x.shape[1], x.shape[3]
    half = size // 2
    angle = [t * base ** (-i / half) for t in range(time) for i in range(half)]
    c, s = (leaf([time, 1, half], [f(a) for a in angle]) for f in (math.cos, math.sin))
    a, b = x[:, :, :, :half], x[:, :, :, half:]
    return concat(a * c - b * s, b * c + a * s)


def bucket(distance, buckets, max_distance, bidirectional):
    """T5's: near distances one by one, then in steps of equal ratio."""
    first = 0
    if bidirectional:
        buckets //= 2
        first, distance = (buckets if distance > 0 else 0), abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    share = math.log(distance / exact) / math.log(max_distance / exact)
    return first + min(exact + int(share * (buckets - exact)), buckets - 1)


def relative_bias(weight, T, S, max_distance=128, bidirectional=True):
    n = weight.shape[0]
    row = rows(weight)
    at = [row[bucket(s - t, n, max_distance, bidirectional)] for t in range(T) for s in range(S)]
    shape = [T, S, weight.shape[1]]
    return transpose(Tensor(shape, [i for r in at for i in r]), [2, 0, 1])


def topk(x, k):
    best = [sorted(row, key=lambda i: -VALUES[i])[:k] for row in rows(x)]
    where_ = [row.index(i) for row, b in zip(rows(x), best) for i in b]
    shape = x.shape[:-1] + [k]
    return Tensor(shape, [i for b in best for i in b]), leaf(shape, where_)


class Rows:
    """A row for each choice of each token, on its way through the experts."""

    def __init__(self, expert, row):
        self.expert, self.row = expert, row

    def through(self, experts):
        out = []
        for e, row in zip(self.expert, self.row):
            out.append(experts[e](Tensor([1, len(row)], row)).at)
        return Rows(self.expert, out)


def dispatch(x, choices):
    k = choices.shape[-1]
    return Rows([int(v) for v in choices.values()], [r for r in rows(x) for _ in range(k)])


def combine(routed, choices, weights):
    n, k = len(routed.row[0]), choices.shape[-1]
    y = Tensor(choices.shape + [n], [i for row in routed.row for i in row])
    y = y * weights.reshape(choices.shape + [1])
    return sum_(y, -2).reshape(choices.shape[:-1] + [n])


def load_balance(scores, choices):
    """The sum over n experts of (its choices / tokens) * (mean of its softmax), n times."""
    n, tokens = scores.shape[-1], len(scores.at) // scores.shape[-1]
    chosen = [int(e) for e in choices.values()]
    share = leaf([n], [chosen.count(e) / tokens for e in range(n)])
    return n * sum_(share * mean(softmax(scores).reshape([tokens, n]), 0).reshape([n]), 0)


def aux(term, weight):
    TERMS.append(weight * term.reshape([]))


def cross_entropy(logits, targets):
    """The mean of -log(softmax(logits)[target]) over the targets that are not -100."""
    peak = stop_gradient(max_(logits, axis=-1))
    sums = log(sum_(exp(logits - peak), -1)) + peak
    wanted = [(row[int(t)], i) for row, t, i in zip(rows(logits), targets.values(), sums.at)
              if t != -100]
    chosen, sums = (Tensor([len(wanted)], list(at)) for at in zip(*wanted))
    return mean(sums - chosen, 0).reshape([])


def mse(x, target):
    d = x.reshape([len(x.at)]) - target.reshape([len(x.at)])
    return mean(d * d, 0).reshape([])


FUNCTIONS = {
    **{f.__name__: f for f in (silu, gelu, dropout, stop_gradient, mean, clamp, where, softmax,
                               linear, transpose, matmul, gather, concat, stack, split, iota,
                               layer_norm, rms_norm, attention, rope, relative_bias, topk, dispatch,
                               combine, load_balance, aux, cross_entropy, mse)},
    "exp": exp, "log": log, "sqrt": sqrt, "rsqrt": rsqrt, "sin": sin, "cos": cos, "abs": abs_,
    "relu": relu, "sigmoid": sigmoid, "tanh": tanh, "erf": "erf", "sum": sum_, "max": max_,
    "min": min_, "true": True, "false": False, "none": None,
}  # fmt: skip
