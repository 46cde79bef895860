"""A second reader of the signatures in ir/ops/ops.def: signatures.py
build/tests/modules/signatures.

It was written only from the description in ir/ops/signature.h and works differently from the
compiler's: types match if some choice of sizes and runs of axes makes every operand and result
valid, and all choices are tried. For each op it makes types that match, spoils some of them, and
compares the answers of both readers: whether they match, and which results follow.
"""
import random
import re
import subprocess
import sys

NAMED = {"exact": ("i64", ["24"]), "step": ("f64", ["16"]), "scale": ("f64", ["8"])}
FLOATS = ("f32", "bf16", "f16")
NUMBERS = ("f32", "bf16", "f16", "f64", "i32", "i64", "u8", "f8e4m3", "i8")
CASES = 150


class Slot:
    def __init__(self, text, result):
        m = re.fullmatch(r"([a-z_]+)(?::([A-Za-z0-9]+)(?:\((\w)\))?)?(\[[^\]]*\])?(\?)?(\*)?", text)
        self.name, self.dtype, _, axes, optional, many = m.groups()
        self.optional, self.many = bool(optional), bool(many)
        self.pitched = bool(axes) and axes.endswith(":]")
        self.axes = axes.strip("[:]").split(", ") if axes else None
        if self.dtype in NAMED:
            self.dtype, self.axes = NAMED[self.dtype]
        if self.dtype == "token":
            self.axes = []
        if not self.dtype:
            self.dtype = "default" if result else "float"


def is_run(axis):
    return axis == "..." or (len(axis) == 2 and axis[1] == "*")


def read(signature):
    left, right = re.fullmatch(r"(.*?)-> ?(.*)", signature).groups()
    return ([Slot(word, False) for word in re.findall(r"\S*\[[^\]]*\]\S*|\S+", left)],
            [Slot(word, True) for word in re.findall(r"\S*\[[^\]]*\]\S*|\S+", right)])


# A type is (dtype, pitch, dims).

def bind(slot, t, env, first):
    """All ways to extend env so that type t fits the slot."""
    dtype, pitch, dims = t
    word = slot.dtype
    if word in ("float", "grad"):
        right = dtype in FLOATS
    elif word == "default":
        right = dtype == first if first and first not in FLOATS else dtype in FLOATS
    elif word == "any":
        right = dtype in NUMBERS
    elif len(word) == 1:
        right = dtype in NUMBERS and env.get("dtype " + word, dtype) == dtype
        env = {**env, "dtype " + word: dtype}
    else:
        right = dtype == word
    if not right or (pitch and not slot.pitched):
        return
    if slot.axes is None:
        yield env
        return
    yield from bind_axes(slot.axes, dims, env)


def bind_axes(axes, dims, env):
    if not axes:
        if not dims:
            yield env
        return
    axis = axes[0]
    if is_run(axis):
        for n in range(len(dims) + 1):
            if env.get(axis, dims[:n]) == dims[:n]:
                yield from bind_axes(axes[1:], dims[n:], {**env, axis: dims[:n]})
        return
    if not dims:
        return
    if axis == "_" or (axis.isdigit() and int(axis) == dims[0]):
        yield from bind_axes(axes[1:], dims[1:], env)
    elif axis.isalpha() and env.get(axis, dims[0]) == dims[0]:
        yield from bind_axes(axes[1:], dims[1:], {**env, axis: dims[0]})


def assign(slots, types):
    """All ways to give each type a slot, in order."""
    if not slots:
        if not types:
            yield []
        return
    slot = slots[0]
    if slot.many:
        for n in range(0 if slot.later else 1, len(types) + 1):
            for rest in assign(slots[1:], types[n:]):
                yield [slot] * n + rest
        return
    if types:
        for rest in assign(slots[1:], types[1:]):
            yield [slot] + rest
    elif slot.optional:
        yield from assign(slots[1:], types)


def unify(pairs, env, first):
    if not pairs:
        yield env
        return
    for longer in bind(pairs[0][0], pairs[0][1], env, first):
        yield from unify(pairs[1:], longer, first)


def environments(op, ins, outs=None):
    """Slots of operands and results, and what they bind, for every way that fits."""
    first = ins[0][0] if ins else None
    for slots in assign(op.ins, ins):
        for results in assign(op.outs, outs) if outs is not None else [[]]:
            pairs = list(zip(slots + results, ins + (outs or [])))
            for env in unify(pairs, {}, first):
                yield slots, results, env


def fits(op, ins, outs):
    for slots, results, env in environments(op, ins, outs):
        alike = True
        for j, slot in enumerate(results):
            for i, operand in enumerate(slots):
                if operand.name == slot.name and (not slot.many or i == j):
                    alike &= ins[i][0] == outs[j][0] and ins[i][2] == outs[j][2]
        if alike:
            return True
    return False


def result(slot, slots, ins, env):
    for operand, t in zip(slots, ins):
        if operand.name == slot.name and not slot.many:
            return t[0], 0, t[2]
    if slot.axes is None or any(a == "_" or (not a.isdigit() and a not in env) for a in slot.axes):
        return None
    dims = []
    for axis in slot.axes:
        dims += env[axis] if is_run(axis) else [int(axis) if axis.isdigit() else env[axis]]
    dtype = slot.dtype
    if dtype in ("default", "float"):
        dtype = ins[0][0] if ins else None
    elif dtype == "grad":
        dtype = "f32"
    elif len(dtype) == 1:
        dtype = env["dtype " + dtype]
    return None if dtype in (None, "any") or len(dims) > 6 else (dtype, 0, dims)


class Op:
    def __init__(self, line):
        self.name, given, signature = line.split("\t")
        self.given = given == "1"
        self.ins, self.outs = read(signature)
        for slots in self.ins, self.outs:
            for k, slot in enumerate(slots):
                slot.later = any(before.many for before in slots[:k])


# ---- types that fit, and types that do not

def invent(rng, slot, sizes, like):
    if slot.axes is None:
        dims = [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
    else:
        dims = []
        for axis in slot.axes:
            if is_run(axis):
                run = [rng.randint(1, 4) for _ in range(rng.randint(0, 2))]
                dims += sizes.setdefault(axis, run)
            elif axis.isdigit():
                dims.append(int(axis))
            else:
                dims.append(rng.randint(1, 5) if axis == "_"
                            else sizes.setdefault(axis, rng.randint(1, 5)))
    dtype = slot.dtype
    if dtype in ("float", "grad", "default"):
        dtype = rng.choice(FLOATS)
    elif dtype == "any":
        dtype = rng.choice(NUMBERS)
    elif len(dtype) == 1:
        dtype = sizes.setdefault("dtype", rng.choice(NUMBERS))
    t = (dtype, 0, dims)
    if slot.name in like and not slot.many:
        t = like[slot.name]
    if slot.pitched and t[2] and rng.random() < 0.2:
        t = (t[0], t[2][-1] + 3, t[2])
    return t


def spoil(rng, types):
    types = list(types)
    i = rng.randrange(len(types)) if types else 0
    what = rng.randrange(7)
    if what == 0 or not types:
        dims = [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
        types.insert(i, (rng.choice(NUMBERS), 0, dims))
        return types
    dtype, pitch, dims = types[i]
    if what == 1:
        del types[i]
    elif what == 2:
        types[i] = (rng.choice(NUMBERS + ("token",)), pitch, dims)
        if types[i][0] == "token":
            types[i] = ("token", 0, [])
    elif what == 3 and dims:
        k = rng.randrange(len(dims))
        types[i] = (dtype, 0, dims[:k] + [dims[k] + 1] + dims[k + 1:])
    elif what == 4 and len(dims) < 6:
        k = rng.randint(0, len(dims))
        types[i] = (dtype, 0, dims[:k] + [rng.randint(1, 4)] + dims[k:])
    elif what == 5 and dims:
        k = rng.randrange(len(dims))
        types[i] = (dtype, 0, dims[:k] + dims[k + 1:])
    elif dims and dtype != "token":
        types[i] = (dtype, dims[-1] + 2, dims)
    return types


def case(rng, op):
    sizes, like, ins, outs = {}, {}, [], []
    for slot in op.ins:
        if slot.optional and rng.random() < 0.4:
            break
        for _ in range(rng.randint(0 if slot.later else 1, 3) if slot.many else 1):
            ins.append(invent(rng, slot, sizes, {}))
        if ins:
            like[slot.name] = ins[-1]
    for slot in op.outs:
        for _ in range(rng.randint(1, 3) if slot.many else 1):
            outs.append(invent(rng, slot, sizes, like))
    if op.outs and op.outs[-1].many and op.outs[-1].name in like:
        outs = list(ins)
    if rng.random() < 0.5:
        if rng.random() < 0.5 or not outs:
            ins = spoil(rng, ins)
        else:
            outs = spoil(rng, outs)
    return ins, outs


def text(t):
    return "?" if t is None else ",".join([t[0], str(t[1])] + [str(d) for d in t[2]])


def main():
    listing = subprocess.run([sys.argv[1], "list"], capture_output=True, text=True, check=True)
    ops = [Op(line) for line in listing.stdout.splitlines()]
    rng = random.Random(7)
    questions, answers, counts = [], [], {}
    for op in ops:
        for _ in range(CASES):
            ins, outs = case(rng, op)
            if not op.given:
                questions.append(" ".join(["infer", op.name] + [text(t) for t in ins]))
                found = next(iter(environments(op, ins)), None)
                answers.append(" ".join(["yes"] + [text(result(s, found[0], ins, found[2]))
                                                   for s in op.outs]) if found else "no")
            questions.append(" ".join(["fits", op.name] + [text(t) for t in ins] + ["|"]
                                      + [text(t) for t in outs]))
            answers.append("yes" if fits(op, ins, outs) else "no")
            count = counts.setdefault(op.name, {"yes": 0, "no": 0})
            count[answers[-1]] += 1
    other = subprocess.run([sys.argv[1]], input="\n".join(questions) + "\n", capture_output=True,
                           text=True, check=True).stdout.splitlines()
    wrong = 0
    for question, mine, theirs in zip(questions, answers, other):
        if mine != theirs:
            wrong += 1
            print(f"{question}\n  the compiler: {theirs}\n  this reader:  {mine}")
    for name, count in counts.items():
        if min(count.values()) < 8:
            print(f"{name}: too few cases: {count}")
    if len(other) == len(questions) and not wrong:
        print("both readers agree")


main()
