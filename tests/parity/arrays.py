"""NumPy arrays in double precision that remember how they were computed, so that gradients follow:
like tape.py, but for arrays instead of single elements.

Each result knows its operands and, for each, how its gradient follows from the result's. Nothing
here is taken from the compiler: the functions are those of the language, by the formulas of
docs/reference.md. `NEAREST` is the smallest distance of two numbers whose order decided something
(a comparison, a maximum, the side of a kink): if it is within rounding, another precision may
decide otherwise. Equal numbers count as decided.
"""

import math

import numpy as np

NEAREST = [math.inf]


def decided(difference):
    apart = np.abs(difference)[np.nonzero(difference)]
    if apart.size:
        NEAREST[0] = min(NEAREST[0], float(apart.min()))


class Array:
    def __init__(self, a, parents=()):
        self.a = np.asarray(a, dtype=np.float64)
        self.parents = parents  # pairs of an operand and of its gradient by that of the result

    @property
    def shape(self):
        return list(self.a.shape)

    def reshape(self, shape):
        return Array(self.a.reshape(shape), [(self, lambda d: d.reshape(self.a.shape))])

    def __getitem__(self, index):
        def back(d):
            out = np.zeros_like(self.a)
            out[index] = d
            return out

        return Array(self.a[index], [(self, back)])

    def __add__(self, other):
        return both(self, other, np.add, lambda x, y, z: (1.0, 1.0))

    def __sub__(self, other):
        return both(self, other, np.subtract, lambda x, y, z: (1.0, -1.0))

    def __mul__(self, other):
        return both(self, other, np.multiply, lambda x, y, z: (y, x))

    def __truediv__(self, other):
        return both(self, other, np.divide, lambda x, y, z: (1 / y, -z / y))

    def __radd__(self, other):
        return value(other) + self

    def __rsub__(self, other):
        return value(other) - self

    def __rmul__(self, other):
        return value(other) * self

    def __rtruediv__(self, other):
        return value(other) / self

    def __neg__(self):
        return each(np.negative, lambda x, y: -1.0)(self)

    def __gt__(self, other):
        return compared(self, other, np.greater)

    def __ge__(self, other):
        return compared(self, other, np.greater_equal)

    def __lt__(self, other):
        return compared(self, other, np.less)

    def __le__(self, other):
        return compared(self, other, np.less_equal)

    def __eq__(self, other):
        return compared(self, other, np.equal)

    def __ne__(self, other):
        return compared(self, other, np.not_equal)


def value(x):
    return x if isinstance(x, Array) else Array(x)


def operands_first(result):
    """All that the result was computed from and a gradient flows to, operands before results."""
    order, seen = [], set()
    stack_ = [(result, False)]
    while stack_:
        x, done = stack_.pop()
        if done:
            order.append(x)
        elif id(x) not in seen:
            seen.add(id(x))
            stack_.append((x, True))
            stack_ += [(p, False) for p, _ in x.parents]
    return order


def reaches(result, leaf):
    return any(x is leaf for x in operands_first(result))


def gradients(loss, leaves, rounded=lambda d: d):
    """How much the loss, an array of one element, moves with each element of the leaves; what is
    added up on the way is `rounded` first."""
    moved = {id(loss): np.ones_like(loss.a)}
    for x in reversed(operands_first(loss)):
        d = moved.get(id(x))
        for parent, back in x.parents if d is not None else ():
            more = rounded(back(d))
            moved[id(parent)] = moved[id(parent)] + more if id(parent) in moved else more
    return [moved.get(id(x), np.zeros_like(x.a)) for x in leaves]


def narrowed(d, shape):
    """The sum over the axes that a value of that shape was broadcast along."""
    d = d.sum(axis=tuple(range(d.ndim - len(shape))))
    wide = tuple(i for i, n in enumerate(shape) if n == 1 and d.shape[i] != 1)
    return d.sum(axis=wide, keepdims=True) if wide else d


def both(a, b, f, slopes):
    a, b = value(a), value(b)
    y = f(a.a, b.a)

    def back(which, shape):
        return lambda d: narrowed(d * slopes(a.a, b.a, y)[which] + np.zeros_like(y), shape)

    return Array(y, [(a, back(0, a.a.shape)), (b, back(1, b.a.shape))])


def compared(a, b, f):
    a, b = value(a), value(b)
    decided(a.a - b.a)
    return Array(f(a.a, b.a))


def each(f, slope, kink=False):
    """A function of the elements; slope gets the element and the result."""

    def run(x):
        if kink:
            decided(x.a)
        y = f(x.a)
        return Array(y, [(x, lambda d: d * slope(x.a, y))])

    return run


exp = each(np.exp, lambda x, y: y)
log = each(np.log, lambda x, y: 1 / x)
sqrt = each(np.sqrt, lambda x, y: 0.5 / y)
rsqrt = each(lambda x: 1 / np.sqrt(x), lambda x, y: -0.5 * y / x)
tanh = each(np.tanh, lambda x, y: 1 - y * y)
sin = each(np.sin, lambda x, y: np.cos(x))
cos = each(np.cos, lambda x, y: -np.sin(x))
abs_ = each(np.abs, lambda x, y: np.sign(x), kink=True)
relu = each(lambda x: np.maximum(x, 0), lambda x, y: np.greater(x, 0), kink=True)
sigmoid = each(lambda x: 1 / (1 + np.exp(-x)), lambda x, y: y * (1 - y))
erf = each(np.vectorize(math.erf, [float]), lambda x, y: 2 / math.sqrt(math.pi) * np.exp(-x * x))


def silu(x):
    return x * sigmoid(x)


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def stop_gradient(x):
    return Array(x.a)


def axes_of(x, axis):
    axis = range(x.a.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return tuple(a % x.a.ndim for a in axis)


def sum_(x, axis=None):
    y = x.a.sum(axis=axes_of(x, axis), keepdims=True)
    return Array(y, [(x, lambda d: d + np.zeros_like(x.a))])


def mean(x, axis=None):
    y = sum_(x, axis)
    return y * (y.a.size / x.a.size)


def extreme(x, axis, f):
    axis = axes_of(x, axis)
    y = f(x.a, axis=axis, keepdims=True)
    decided(x.a - y)
    of = x.a == y
    return Array(y, [(x, lambda d: d * of / of.sum(axis=axis, keepdims=True))])


def larger(x, y, f, sign):
    """Elements of which the larger or the smaller are taken; half of each where they are equal."""
    x, y = value(x), value(y)
    decided(x.a - y.a)

    def slopes(x, y, z):
        first = np.where(x == y, 0.5, np.greater(sign * x, sign * y))
        return first, 1 - first

    return both(x, y, f, slopes)


def max_(x, y=None, axis=None):
    return extreme(x, axis, np.max) if y is None else larger(x, y, np.maximum, 1)


def min_(x, y=None, axis=None):
    return extreme(x, axis, np.min) if y is None else larger(x, y, np.minimum, -1)


def where(which, x, y):
    which, x, y = value(which), value(x), value(y)
    taken = which.a != 0
    z = np.where(taken, x.a, y.a)

    def back(mask, shape):
        return lambda d: narrowed(d * mask, shape)

    return Array(z, [(x, back(taken, x.a.shape)), (y, back(~taken, y.a.shape))])


def softmax(x):
    e = exp(x - stop_gradient(Array(x.a.max(axis=-1, keepdims=True))))
    return e / sum_(e, -1)


def transpose(x, axes=None):
    n = x.a.ndim
    axes = axes or [*range(n - 2), n - 1, n - 2]
    return Array(x.a.transpose(axes), [(x, lambda d: d.transpose(np.argsort(axes)))])


def expand(x, shape):
    return Array(np.broadcast_to(x.a, shape), [(x, lambda d: narrowed(d, x.a.shape))])


def concat(*parts, axis=-1):
    sizes, at, backs = [p.a.shape[axis] for p in parts], 0, []
    for p, n in zip(parts, sizes):
        backs.append((p, lambda d, at=at, n=n: np.take(d, range(at, at + n), axis=axis)))
        at += n
    return Array(np.concatenate([p.a for p in parts], axis=axis), backs)


def stack(*parts, axis=-1):
    return Array(np.stack([p.a for p in parts], axis=axis),
                 [(p, lambda d, i=i: np.take(d, i, axis=axis)) for i, p in enumerate(parts)])


def split(x, axis, sizes=None):
    before, at, out = (slice(None),) * (axis % x.a.ndim), 0, []
    if sizes is None:
        return [x[(*before, i)] for i in range(x.a.shape[axis])]
    for n in sizes:
        out.append(x[(*before, slice(at, at + n))])
        at += n
    return out


def iota(n):
    return Array(np.arange(n))


def layer_norm(x, weight, bias, eps=1e-5):
    y = x - mean(x, -1)
    return y * rsqrt(mean(y * y, -1) + eps) * weight + bias


def rms_norm(x, weight, eps=1e-6):
    return x * rsqrt(mean(x * x, -1) + eps) * weight


def matmul(a, b):
    def swap(x):
        return np.swapaxes(x, -1, -2)

    return Array(a.a @ b.a, [(a, lambda d: narrowed(d @ swap(b.a), a.a.shape)),
                             (b, lambda d: narrowed(swap(a.a) @ d, b.a.shape))])


def mse(x, target):
    d = x - target
    return mean(d * d).reshape([1])


FUNCTIONS = {
    **{f.__name__: f for f in (silu, gelu, stop_gradient, mean, where, softmax, transpose, expand,
                               concat, stack, split, iota, layer_norm, rms_norm, matmul, mse)},
    "exp": exp, "log": log, "sqrt": sqrt, "rsqrt": rsqrt, "sin": sin, "cos": cos, "abs": abs_,
    "relu": relu, "sigmoid": sigmoid, "tanh": tanh, "sum": sum_, "max": max_, "min": min_,
}  # fmt: skip
