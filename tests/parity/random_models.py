#!/usr/bin/env python3
"""Random models (random_model.py) under random settings, at 1 to 16 ranks, some of which share out
samples (tp, cp) or layers (pp): they compile, the checker proves the plans, losses, norms,
gradients and trained weights have the same bits as in one unit, frozen parameters stay as they are,
a graph that is printed between two passes and read back ends in the same graph, and loss and
gradients are those that tape.py computes from the model's text in double precision; so are the
losses of all steps where the optimizer is plain SGD. Stages of a pipeline may share parameters,
whose gradients they add up in another order: so these are held against the formulas alone.

    random_models.py FSDPC FSDP_RUN FIRST_SEED COUNT       250 take fifteen minutes
"""

import hashlib
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import safetensors as st  # noqa: E402
from model_in_python import Net  # noqa: E402
from random_model import Model  # noqa: E402
from random_settings import one_unit, settings  # noqa: E402

STEPS, RATE, NEAR, TOLERANCE = 3, 0.05, 2**-22, 8
MESHES = ["dp = 2", "dp = 3", "dp = 4", "dp = 5", "rep = 2, dp = 2", "dp = 2, rep = 2",
          "rep = 3, dp = 1", "rep = 2, dp = 1"]  # fmt: skip
OPTIMIZERS = ["sgd(lr = 0.05)"] * 4 + ["sgd(lr = 0.05, momentum = 0.9, weight_decay = 0.1)",
              "adamw(lr = 0.02)", "adam(lr = 0.02, weight_decay = 0.1)", "lion(lr = 0.01)",
              "muon(lr = 0.02)", "adafactor(lr = 0.05)", "adan(lr = 0.02)"]  # fmt: skip
REFUSED = re.compile("heads of .* cannot be shared out|KV heads of .* must divide"
                     "|entries on each rank along tp, which is not divisible")
WITHOUT_STAGES = re.compile("stages = .*: the model has")
PRECISIONS = ["bf16", "f16", "bf16(reduce = bf16)", "f16(reduce = f16)"]

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with open(os.path.join(ROOT, "passes", "passes.def"), encoding="utf-8") as rows:
    PASSES = re.findall(r"^PASS\((\w+),", rows.read(), re.M)


def narrow(values):
    """The values as f32 has them."""
    return [struct.unpack("f", struct.pack("f", v))[0] for v in values]


def save_array(name, form, shape, values):
    kind = {"f": "<f4", "i": "<i4"}[form]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}{form}", *values))


def save_weights(name, shapes, weights):
    header, at = {}, 0
    for key, (shape, _) in shapes.items():
        end = at + 4 * len(weights[key])
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    with open(name, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for key in shapes:
            f.write(struct.pack(f"<{len(weights[key])}f", *weights[key]))


class Trial:
    """A model, its data and start weights, in the current folder."""

    def __init__(self, seed, fsdpc, fsdp_run):
        self.fsdpc, self.fsdp_run, self.seed = fsdpc, fsdp_run, seed
        self.model = Model(seed)
        self.net = Net(self.model.root)
        r = self.r = random.Random(-seed)
        self.mesh = r.choice(MESHES)
        self.micro = r.choice([1, 1, 2, 3])
        self.batch = self.ranks(self.mesh) * self.micro
        self.batch *= 2 if self.batch < 6 else 1
        self.make_data(r)
        self.weights = {p: narrow(self.draw(*x)) for p, x in self.net.shapes.items()}
        save_weights("weights", self.net.shapes, self.weights)
        self.optimizer = r.choice(OPTIMIZERS)
        self.train = self.directives(r)
        self.drops = "dropout" in self.model.text()

    @staticmethod
    def ranks(mesh, but=("tp", "cp", "zigzag")):
        """Those with samples of their own."""
        sizes = (part.split("=") for part in mesh.split(","))
        return math.prod(int(size) for axis, size in sizes if axis.strip() not in but)

    def draw(self, shape, init):
        """Start weights, none of them 0 or 1."""
        mean, spread = {"ones": (1, 0.2), "zeros": (0, 0.2)}.get(init, (0, 0.4))
        spread = min(spread, 1.2 / math.sqrt(max(shape)))
        return [self.r.gauss(mean, spread) for _ in range(math.prod(shape))]

    def make_data(self, r):
        m, n = self.model, self.batch * STEPS
        if m.tokens:
            inputs = [m.time], "i", lambda: r.randrange(m.vocab)
            targets = [m.time], "i", lambda: -100 if r.random() < 0.1 else r.randrange(m.vocab)
        else:
            inputs = [m.features], "f", lambda: r.gauss(0, 1)
            targets = [], "i", lambda: r.randrange(m.vocab)
        if not m.tokens and r.random() < 0.4:
            targets = [m.vocab], "f", lambda: r.gauss(0, 1)
        self.loss = ("mse" if targets[1] == "f" else "cross_entropy") + "(model(a), b)"
        self.fields = {}
        for name, (shape, form, draw) in (("a", inputs), ("b", targets)):
            values = [draw() for _ in range(n * math.prod(shape))]
            self.fields[name] = shape, narrow(values) if form == "f" else values
            save_array(name + ".npy", form, [n, *shape], values)

    def directives(self, r):
        """Lines of section train."""
        out = [f"clip = {r.choice([0.1, 1])}"] if r.random() < 0.2 else []
        trained = sorted(set(self.net.shapes) - self.net.frozen)
        if len(trained) > 2 and r.random() < 0.2:
            name = r.choice(trained[1:])
            self.net.frozen.add(name)
            out.append(f'"{name}" = frozen')
        self.plain = self.optimizer == OPTIMIZERS[0] and all("frozen" in s for s in out)
        if r.random() < 0.2 and not self.plain:
            out.append(f'"{r.choice(trained[:1])}" = group(lr = 0.03)')
        return out

    def write(self, mesh, shard, drop, precision):
        lines = [self.model.text(),
                 f"config {{ rate = {drop} }}" if self.drops else "",
                 'data { train = npy(a = "a.npy", b = "b.npy"); order = sequential }',
                 f"train {{ loss = {self.loss}; batch = {self.batch}; steps = {STEPS}",
                 f"  accumulate = {self.micro}; optimizer = {self.optimizer}",
                 f"  precision = {precision}", *("  " + s for s in self.train), "}",
                 f"shard {{ mesh = ({mesh})", *("  " + s for s in shard), "}"]  # fmt: skip
        with open("net.fsd", "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")

    def run(self, mesh, shard, drop=0.1, precision="f32"):
        """Losses and norms, hash of gradients and of weights; or the text of an error."""
        self.write(mesh, shard, drop, precision)
        for command in [[self.fsdpc, "compile", "-q", "net.fsd", "-o", "plan.bin"],
                        [self.fsdpc, "check", "plan.bin"],
                        [self.fsdp_run, "--threads", "1", "-q", "--log", "log", "--load",
                         "weights", "--dump-grads", "0=grads", "--save", "after", "plan.bin"]]:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return " ".join(command) + "\n" + done.stderr
        with open("log", encoding="utf-8") as f:
            steps = [e for e in map(json.loads, f) if e["event"] == "step"]
        os.remove("log")
        hashes = []
        for name in ("grads", "after"):
            with open(name, "rb") as f:
                hashes.append(hashlib.sha256(f.read()).hexdigest())
        if steps[0]["grad_norm"] is None:
            hashes[0] = "not finite"  # which of infinity and NaN it is depends on the order
        return [(e["loss"], e["grad_norm"]) for e in steps], *hashes

    # ---- what is wrong

    def reads_back(self):
        """Whether passes make the same of a graph that was printed between two of them; of the
        settings that were last written. Says after which pass, if not."""
        i = self.r.randrange(len(PASSES) - 1)
        whole, half = (subprocess.run([self.fsdpc, "dump", "--stage=" + name, "net.fsd"],
                                      capture_output=True).stdout
                       for name in (PASSES[-1], PASSES[i]))  # fmt: skip
        opt = [self.fsdpc, "opt", "--pass=" + ",".join(PASSES[i + 1 :]), "-"]
        same = subprocess.run(opt, input=half, capture_output=True).stdout == whole
        return [] if same else [f"read back after pass {PASSES[i]}, it becomes another graph"]

    def parts(self, mesh):
        """The samples of each micro-batch: those of a rank are next to each other."""
        ranks = self.ranks(mesh)
        own = self.batch // ranks
        some = own // self.micro
        return [[n * own + m * some + k for n in range(ranks) for k in range(some)]
                for m in range(self.micro)]  # fmt: skip

    def against_tape(self, losses, mesh):
        """How far loss and gradients are off, and the losses of later steps where the update is
        plain: in times that they move when each weight moves by 2^-22 of itself at each step."""
        grads, after = (st.load(name) for name in ("grads", "after"))
        grads = {p: t.values for p, t in grads.items()}
        weights = near = self.weights
        worst = 0.0
        for p in self.net.frozen & set(self.net.shapes):
            if list(after[p].values) != weights[p]:
                return math.inf
        for step in range(STEPS if self.plain else 1):
            near = {p: [w * self.r.choice([1 - NEAR, 1 + NEAR]) for w in v]
                    for p, v in near.items()}  # fmt: skip
            step_of = self.loss, self.parts(mesh)
            loss, slopes = self.net.gradients(weights, *step_of, **self.samples(step))
            moved, moved_slopes = self.net.gradients(near, *step_of, **self.samples(step))
            at = losses[step][0]
            off = farthest({"loss": [at]}, {"loss": [loss]}, {"loss": [moved]})
            if off > TOLERANCE and self.rounding_chooses(weights, step, step_of, at):
                break
            worst = max(worst, off)
            if step == 0:
                worst = max(worst, farthest(grads, slopes, moved_slopes))
            weights, near = updated(weights, slopes), updated(near, moved_slopes)
        return worst

    def rounding_chooses(self, weights, step, step_of, at):
        """Whether weights that rounding moved give that loss: a topk may choose by so little."""
        r = random.Random(step)
        for _ in range(16):
            near = {p: [w * (1 + 4 * NEAR * r.uniform(-1, 1)) for w in v]
                    for p, v in weights.items()}  # fmt: skip
            loss = self.net.gradients(near, *step_of, **self.samples(step))[0]
            if abs(loss - at) <= 64 * NEAR * max(1, abs(at)):
                return True
        return False

    def samples(self, step):
        """Fields of a step's batch, as Net.gradients takes them."""
        out = {}
        for name, (shape, values) in self.fields.items():
            n = self.batch * math.prod(shape)
            out[name] = [self.batch, *shape], values[step * n : step * n + n]
        return out


def updated(weights, slopes):
    """The weights after a step of SGD."""
    return {p: [w - RATE * x for w, x in zip(v, slopes.get(p, [0.0] * len(v)))]
            for p, v in weights.items()}  # fmt: skip


def farthest(got, wanted, moved):
    """The largest distance, in units of how far the values of that name move at most, plus 2^-22
    of the largest value of all."""
    if set(got) != set(wanted):
        return math.inf
    least, worst = NEAR * max(abs(x) for v in wanted.values() for x in v), 0.0
    for p, values in wanted.items():
        unit = least + max(abs(a - b) for a, b in zip(moved[p], values))
        off = max(abs(a - b) for a, b in zip(got[p], values))
        worst = max(worst, off / unit if math.isfinite(off) else math.inf)
    return worst


def units(r, classes, paths):
    """Settings of units, for random_settings.settings."""
    lists = [[] for _ in range(r.randint(1, 3))]
    for path in r.sample(paths, min(len(paths), r.randint(1, 4))):
        r.choice(lists).append(f'"{path}"')
    lists = ", ".join("[" + ", ".join(x) + "]" for x in lists if x)
    named = ["unit = root", "unit = " + r.choice(classes), f"unit = [{lists}]",
             "unit = [%s]" % ", ".join(r.sample(classes, min(2, len(classes)))),
             "unit = size(%d)" % r.choice([0, 10, 40, 150])]
    out = [r.choice(named)]
    if r.random() < 0.3:
        out = [r.choice(named[:2] + named[3:]), f'"{r.choice(paths)}" = unit']
    return out


def cut_meshes(r, t):
    """Meshes of at most 16 ranks of which some share out a sample. Attention may refuse the first
    ones, for their number of heads."""
    tps = sorted(r.sample([2, 3, 4], 3), key=lambda n: n != t.model.share)
    cps = [n for n in (2, 3, 4) if t.model.tokens and t.model.time % n == 0]
    cp = r.choice(cps) if cps and r.random() < 0.5 else 0
    pieces = t.seed % 4 == 2 and cp and t.model.time % (2 * cp) == 0
    cp = [f"{'zigzag' if pieces else 'cp'} = {cp}"] if cp else []
    cuts = [r.sample([*cp, f"tp = {n}"], len(cp) + 1) for n in tps]
    if cp and r.random() < 0.4:
        cuts.insert(0, cp)
    for axes in cuts:
        for samples in (t.mesh, "dp = 1"):
            mesh = ", ".join(r.choice([[samples, *axes], [*axes, samples]]))
            if t.ranks(mesh, ()) <= 16:
                yield mesh


def cut_settings(r, names):
    """What may keep more of the work whole on every rank."""
    out = ["rows = false"] if r.random() < 0.3 else []
    return out + r.choice([[], [], [], [f'"{r.choice(names)}" = whole(tp)']])


def try_mesh(t, mesh, keep, policies, precision, known):
    """What is wrong, and how far loss and gradients are off; None: no plan for these ranks."""
    r, wrong, wanted = t.r, [], {}
    got = t.run(mesh, ["unit = root", *keep], drop=0)
    if isinstance(got, str):
        return None if "tp" in mesh and REFUSED.search(got) else ([f"{mesh}: {got}"], 0.0)
    off = t.against_tape(got[0], mesh)
    cuts = re.search("tp|cp|zigzag", mesh)
    for number in range(policies):
        shard, order = settings(r, known, mesh, t.micro, "rep = 2" in mesh, units)
        shard += ["gather_again = false"] if cuts and (t.seed + number) % 2 else []
        for s in (one_unit(order), shard):
            if s is not shard and order in wanted:
                continue
            got = t.run(mesh, [*s, *keep], precision=precision)
            if "tp" in mesh and isinstance(got, str) and REFUSED.search(got):
                continue
            if isinstance(got, str) or got != wanted.setdefault(order, got):
                wrong.append(f"{mesh}, {precision}: {'; '.join([*s, *keep])}\n  {got}\n  "
                             f"{wanted.get(order)}")
    return wrong + t.reads_back(), off


def pipelines(r, micro):
    """Stages along pp and the settings of their order, as micro-batches allow them."""
    n = r.choice([2, 2, 3])
    orders = [[], ["pipeline = gpipe"]]
    if micro % n == 0:
        orders.append(["pipeline = interleaved", f"stages = {2 * n}"])
    return n, r.choice(orders)


def try_stages(t, mesh, keep, precision, known):
    """As try_mesh, with stages along another axis, where the model has so many units."""
    r, wrong, off = t.r, [], 0.0
    for which in (precision, "f32"):
        n, order = pipelines(r, t.micro)
        shard, _ = settings(r, known, mesh, t.micro, "rep = 2" in mesh, units)
        shard = [*shard, *keep, *order]
        got = t.run(f"pp = {n}, {mesh}", shard, 0, which)
        if isinstance(got, str) and not (WITHOUT_STAGES.search(got) or REFUSED.search(got)):
            wrong.append(f"pp = {n}, {mesh}, {which}: {'; '.join(shard)}\n  {got}")
        rounds = which != "f32" or any(re.match('(".*" = )?gather', s) for s in shard)
        if not isinstance(got, str) and not rounds:
            off = max(off, t.against_tape(got[0], mesh))
    return wrong, off


def try_seed(seed, fsdpc, fsdp_run, policies=2):
    """What is wrong with the model of the seed, and how far its gradients are off."""
    t = Trial(seed, fsdpc, fsdp_run)
    r, wrong, off = t.r, [], 0.0
    precision = r.choice(["f32"] * 6 + PRECISIONS)
    names = sorted(t.net.shapes)
    globs = [r.choice(names), "*." + r.choice(names).split(".")[-1]]
    globs = [g if g[0] != "*" or any(n.endswith(g[1:]) for n in names) else names[0] for g in globs]
    classes = sorted(t.net.kinds - {"Net"})
    second = [(n, 1, shape[1]) for n, (shape, _) in sorted(t.net.shapes.items()) if len(shape) > 1]
    known = (None, None, classes if len(classes) > 1 else [*classes, "Net"], t.net.paths, globs, 1,
             second)
    for meshes in (["dp = 1"], [t.mesh], cut_meshes(r, t)):
        for mesh in meshes:
            cut = "tp" in mesh or "cp" in mesh or "zigzag" in mesh
            keep = cut_settings(r, names) if cut else []
            tried = try_mesh(t, mesh, keep, policies, precision, known)
            if tried:
                tried = [tried, try_stages(t, mesh, keep, precision, known)]
                wrong += tried[0][0] + tried[1][0]
                off = max(off, tried[0][1], tried[1][1])
                break
        if wrong:
            break
    return wrong, off


def main():
    fsdpc, fsdp_run = map(os.path.abspath, sys.argv[1:3])
    first, count = int(sys.argv[3]), int(sys.argv[4])
    os.chdir(tempfile.mkdtemp())
    bad, worst = 0, 0.0
    for seed in range(first, first + count):
        wrong, off = try_seed(seed, fsdpc, fsdp_run)
        worst = max(worst, off)
        print(f"seed {seed}: off by {off:.3g}", file=sys.stderr, flush=True)
        if wrong or off > TOLERANCE:
            bad += 1
            print(f"seed {seed}: off by {off:.3g}", *wrong, sep="\n", flush=True)
    print(f"{count} models, {bad} wrong")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
