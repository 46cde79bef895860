"""What must not depend on ranks, strategy, units or prefetch, tested on training runs.

    ranks.py FSDPC FSDP_RUN rounding    1, 2, 3, 4, 8 ranks: losses within rounding of 1 rank's
    ranks.py FSDPC FSDP_RUN exact       the same if the arithmetic is exact: equal bits
    ranks.py FSDPC FSDP_RUN policies    strategy, units, prefetch, reshard: equal bits
    ranks.py FSDPC FSDP_RUN repeated    two runs of one plan: equal bits
    ranks.py FSDPC FSDP_RUN meshes      replicas of shards: equal to 1 rank and a mesh of one axis
    ranks.py FSDPC FSDP_RUN cut         ranks share out a sample: equal bits if the arithmetic is
                                        exact, else within rounding; one result for all strategies
    ranks.py FSDPC FSDP_RUN matrices    the same of optimizers that look at whole matrices

Every rank has different samples (the batch is divided among ranks). Compared are the log (loss,
gradient norm of every step, evaluation) and the bytes of --save. Prints what held; exit 1 with the
first difference otherwise.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASE = ROOT / "tests" / "parity" / "cases" / "gpt2-tiny"
# Largest relative difference of a loss between 1 and N ranks, N = 2, 3, 4, 8, measured over the 10
# steps below: 2.6e-9 (a loss is an exact sum of f32 losses of tokens). Four times that is allowed.
LOSS_BOUND = 1e-8
RANKS = (1, 2, 3, 4, 8)
# The same where ranks share out a sample, so that products are sums of f32 over ranks: 6.3e-9 on
# four meshes. Four times that is allowed.
CUT_BOUND = 2.5e-8
# The same of Muon, whose steps have the size of the learning rate however small a gradient is, and
# Adafactor, over the meshes below: 1.7e-8 and 3.9e-9. Four times that is allowed.
MATRIX_BOUND = {"muon": 6.8e-8, "adafactor": 1.6e-8}

GPT = [
    "-s",
    "L=2",
    "-s",
    "D=64",
    "-s",
    "H=4",
    "-s",
    "vocab=257",
    "-s",
    "seq=32",
    "-s",
    f'data.train=tokens("{CASE}/tokens.bin")',
    "-s",
    f'data.val=tokens("{CASE}/tokens.bin")',
    "-s",
    "data.length=32",
    "-s",
    "train.batch=24",
    "-s",
    "train.steps=10",
    "-s",
    "train.precision=f32",
    "-s",
    "train.optimizer=adamw(lr = 0.001, weight_decay = 0.1)",
    "-s",
    "train.clip=1.0",
    "-s",
    "train.schedule=constant(warmup = 0)",
    "-s",
    "train.eval_every=5",
    "-s",
    "train.eval_steps=1",
]

FEW_HEADS = [*GPT, "-s", "H=8", "-s", "KV=2", "-s", "F=96"]  # of llama3

FEW = ["-s", "train.steps=4", "-s", "train.eval_every=2"]  # equal bits show at once

EXACT = """\
module Net {
  first  : Linear(6, 8, bias = true, init = zeros)
  second : Linear(8, 8, bias = true, init = zeros)
  forward(x) = second(first(x))
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); val = npy(x = "x.npy", y = "y.npy")
       order = sequential }
train { loss = cross_entropy(model(x), y); batch = 24; steps = 1; optimizer = sgd(lr = 0.5)
        eval_every = 1; eval_steps = 1 }
"""

# What is dropped shows in the weights of `second`.
DROPPED = EXACT.replace("second(first(x))", "second(dropout(first(x), 0.5))").replace(
    "zeros", "ones", 1
)
DROPPED = DROPPED.replace("eval_every = 1; eval_steps = 1", "")

# Samples of 4 positions; 128 numbers are compared, and everything is an integer or divided by a
# power of two.
POSITIONS = """\
module Net {
  table  : Embedding(6, 8, init = ones)
  inner  : Linear(8, 8, bias = true, init = ones)
  n      : param[8] = ones
  last   : Linear(8, 2, init = ones)
  place  : Embedding(4, 8, init = ones)
  forward(x) = last(relu(inner(table(x) * n)) + table(x) + place(iota(4)))
}
model = Net
data { train = npy(x = "ids.npy", y = "goal.npy"); order = sequential }
train { loss = mse(model(x), y); batch = 16; steps = 1; optimizer = sgd(lr = 0.0078125) }
"""


def npy(path, dtype, shape, fmt, values):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(text))
        + text.encode()
        + struct.pack(f"<{len(values)}{fmt}", *values)
    )


def call(args, cwd):
    done = subprocess.run(args, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, args))}: exit code {done.returncode}\n{done.stderr}")


def train(tools, tmp, model, args, ranks):
    """(numbers of the log, bytes of the weights); ranks: a number or a mesh, rep=2,dp=2"""
    option = "-n" if isinstance(ranks, int) else "--mesh"
    call([tools[0], "compile", "-q", model, "-o", tmp / "plan", option, str(ranks), *args], tmp)
    call(
        [
            tools[1],
            "--quiet",
            "--threads",
            "1",
            "--log",
            tmp / "log",
            "--save",
            tmp / "weights",
            tmp / "plan",
        ],
        tmp,
    )
    events = [json.loads(line) for line in (tmp / "log").read_text().splitlines()]
    numbers = [
        (e["event"], e["step"], e["loss"], e.get("grad_norm"))
        for e in events
        if e["event"] in ("step", "eval")
    ]
    return numbers, (tmp / "weights").read_bytes()


def same(what, a, b):
    if a[0] != b[0]:
        first = next((x, y) for x, y in zip(a[0], b[0]) if x != y)
        sys.exit(f"{what}: the log differs, first {first[0]} and {first[1]}")
    if a[1] != b[1]:
        sys.exit(f"{what}: the weights differ")


def rounding(tools, tmp):
    one = train(tools, tmp, ROOT / "models" / "gpt2.fsd", GPT, 1)
    worst = 0
    for n in RANKS[1:]:
        other = train(tools, tmp, ROOT / "models" / "gpt2.fsd", GPT, n)
        for a, b in zip(one[0], other[0], strict=True):
            difference = abs(a[2] - b[2]) / a[2]
            worst = max(worst, difference)
            if difference > LOSS_BOUND:
                sys.exit(
                    f"{n} ranks: {a[0]} {a[1]} has loss {b[2]}, 1 rank {a[2]}: "
                    f"{difference:.2g} > {LOSS_BOUND:.2g}"
                )
    print(f"largest relative difference of a loss: {worst:.2g}", file=sys.stderr)


def write_exact(tmp, text=EXACT):
    # Last weights zero, 8 classes: every probability is 1/8, gradients of small integers add
    # exactly.
    (tmp / "net.fsd").write_text(text)
    npy(tmp / "x.npy", "<f4", (24, 6), "f", [(7 * k * k + 3 * k) % 13 - 6 for k in range(24 * 6)])
    npy(tmp / "y.npy", "<i4", (24,), "i", [(5 * k + k // 3) % 8 for k in range(24)])
    npy(tmp / "ids.npy", "<i4", (16, 4), "i", [(5 * k + k // 7) % 6 for k in range(64)])
    npy(tmp / "goal.npy", "<f4", (16, 4, 2), "f", [(3 * k * k + k) % 9 - 4 for k in range(128)])
    return tmp / "net.fsd"


def exact(tools, tmp):
    net = write_exact(tmp)
    one = train(tools, tmp, net, [], 1)
    for n in RANKS[1:]:
        same(f"{n} ranks and 1", train(tools, tmp, net, [], n), one)


def meshes(tools, tmp):
    net = write_exact(tmp)
    one = train(tools, tmp, net, [], 1)
    for mesh, micro in (
        ("rep=2,dp=2", 3),
        ("dp=2,rep=2", 2),
        ("rep=2,dp=3", 4),
        ("rep=4,dp=2", 3),
        ("rep=3,dp=1", 4),
        ("rep=4", 2),
    ):
        for strategy in ("full", "grads", "states", "none"):
            for accumulate in ("", "sharded", "local"):
                args = ["-s", f"shard.strategy={strategy}"]
                if accumulate:
                    args += ["-s", f"shard.accumulate={accumulate}"]
                    args += ["-s", f"train.accumulate={micro}"]
                what = f"{mesh} {' '.join(args)} and 1 rank"
                same(what, train(tools, tmp, net, args, mesh), one)
    gpt = ROOT / "models" / "gpt2.fsd"
    line = train(tools, tmp, gpt, GPT, 4)
    square = train(tools, tmp, gpt, GPT, "rep=2,dp=2")
    for a, b in zip(line[0], square[0], strict=True):
        if abs(a[2] - b[2]) / a[2] > LOSS_BOUND:
            sys.exit(f"rep=2,dp=2: {b[0]} {b[1]} has loss {b[2]}, dp=4 {a[2]}")
    grads = train(tools, tmp, gpt, GPT + ["-s", "shard.strategy=grads"], "rep=2,dp=2")
    same("rep=2,dp=2: full and grads", square, grads)
    states = ["-s", "shard.strategy=states", "-s", "train.accumulate=2"]
    local = ["-s", "shard.strategy=grads", "-s", "shard.accumulate=local", *states[2:]]
    runs = [train(tools, tmp, gpt, GPT + v, "rep=2,dp=2") for v in (states, local)]
    same("states and grads with accumulate = local", *runs)
    none = train(tools, tmp, gpt, GPT + ["-s", "shard.strategy=none"], 4)
    same("rep=4,dp=1 and strategy none", train(tools, tmp, gpt, GPT, "rep=4,dp=1"), none)


# Settings under which ranks that share out a sample get the bits of one rank, if sums are exact.
CUT_EXACT = (
    [],
    ["-s", "shard.layout=param"],
    ["-s", "train.accumulate=2"],
    ["-s", "train.accumulate=2", "-s", "shard.accumulate=local"],
    ["-s", "train.accumulate=2", "-s", "shard.all_reduce=last"],
    ["-s", "shard.strategy=none"],
    ["-s", "shard.rows=false"],
    ["-s", "shard.rows=false", "-s", "train.accumulate=2"],
)


def near_one(tools, tmp, model, settings, meshes, bound):
    """The largest relative difference of a loss from that of one rank"""
    one, worst = train(tools, tmp, model, settings, 1), 0
    for mesh in meshes:
        args = settings + (["-s", "shard.rows=false"] if "rows" in mesh else [])
        other = train(tools, tmp, model, args, mesh.removesuffix(",rows"))
        for a, b in zip(one[0], other[0], strict=True):
            worst = max(worst, abs(a[2] - b[2]) / a[2])
            if a[2] != b[2] and abs(a[2] - b[2]) > bound * a[2]:
                sys.exit(f"{mesh}: losses differ from one rank's: {a[2]} and {b[2]}")
    return worst


def all_same(tools, tmp, model, settings, mesh, variants):
    results = [train(tools, tmp, model, settings + v, mesh) for v in variants]
    for v, r in zip(variants[1:], results[1:]):
        same(f"{mesh} {' '.join(v)}", r, results[0])


def cut(tools, tmp):
    weights = set()
    for text in (EXACT, DROPPED):
        net = write_exact(tmp, text)
        one = train(tools, tmp, net, [], 1)
        weights.add(one[1])
        for mesh in ("tp=2", "tp=8", "tp=3", "dp=2,tp=2", "tp=4,dp=3", "rep=2,dp=2,tp=2"):
            for args in CUT_EXACT if "rep" in mesh else CUT_EXACT[:1]:
                same(f"{mesh} {' '.join(args)}", train(tools, tmp, net, args, mesh), one)
    if len(weights) < 2:
        sys.exit("dropout changes no weight")
    net = write_exact(tmp, POSITIONS)
    one = train(tools, tmp, net, [], 1)
    meshes = ("cp=2", "cp=4", "dp=4,cp=4", "tp=2,cp=2", "dp=2,cp=2,tp=2", "rep=2,dp=2,cp=2")
    for mesh in (*meshes, "zigzag=2", "zigzag=2,dp=4", "tp=2,zigzag=2"):
        for args in CUT_EXACT if mesh.startswith(("dp=2", "rep")) else CUT_EXACT[:1]:
            same(f"{mesh} {' '.join(args)}", train(tools, tmp, net, args, mesh), one)
    # Experts see all positions, so their gradients are whole along cp, and are split without a sum.
    experts = ["-s", "L=2", "-s", "D=32", "-s", "H=4", "-s", "KV=2", "-s", "F=48", "-s", "vocab=64"]
    experts += ["-s", "seq=16", "-s", "train.batch=8", "-s", "train.precision=f32", *FEW[:2]]
    experts += ["-s", "train.schedule=constant(warmup = 0)"]
    mixtral = ROOT / "models" / "mixtral.fsd"
    dropped = ROOT / "tests" / "backend" / "models" / "dropped.fsd"
    gpt, llama = ROOT / "models" / "gpt2.fsd", ROOT / "models" / "llama3.fsd"
    positions = ("cp=2", "zigzag=8", "dp=2,cp=2", "zigzag=2,tp=2", "tp=2,cp=2")
    heads = ("tp=2", "tp=4", "tp=8", "dp=2,tp=4", "tp=4,dp=3", "tp=4,rows")
    worst = 0
    for model, settings, meshes in (
        (gpt, GPT + FEW, ("tp=2", "tp=4", "dp=2,tp=2", "tp=2,dp=3", "tp=2,rows", *positions)),
        (dropped, [], ("tp=2", "tp=4", "dp=2,tp=2", "tp=2,rows", "cp=2", "tp=2,zigzag=4")),
        (llama, FEW_HEADS + FEW, (*heads, "cp=2,dp=3", "dp=2,tp=4,zigzag=2")),
        (mixtral, experts, ("dp=2,cp=2", "zigzag=2,dp=2")),
    ):
        worst = max(worst, near_one(tools, tmp, model, settings, meshes, CUT_BOUND))
    variants = (
        [],
        ["-s", "shard.strategy=grads"],
        ["-s", "shard.strategy=none"],
        ["-s", "shard.unit=Block", "-s", "shard.reshard=false"],
        ["-s", "shard.layout=param"],
        ["-s", "shard.recompute=Block"],
    )
    micro = (
        ["-s", "train.accumulate=2"],
        ["-s", "train.accumulate=2", "-s", "shard.strategy=grads"],
        ["-s", "train.accumulate=2", "-s", "shard.unit=Block"],
    )
    for model, settings, mesh, alike in (
        (gpt, GPT + FEW, "dp=2,tp=2", variants),
        (gpt, GPT + FEW, "dp=2,tp=2", micro),
        (gpt, GPT + FEW, "rep=2,dp=2,tp=2", variants[:3]),
        (gpt, GPT + FEW, "rep=2,cp=2,dp=2", variants[:4]),
        (mixtral, experts, "cp=2,dp=2", variants[:3]),
        (mixtral, experts, "dp=2,zigzag=2", micro[:2]),
    ):
        all_same(tools, tmp, model, settings, mesh, alike)
    print(f"largest relative difference of a loss: {worst:.2g}", file=sys.stderr)


# A vocabulary of 257 rows is cut with padding, attention of GPT-2 in three runs, and ranks of Llama
# have KV heads in common.
def matrices(tools, tmp):
    gpt, llama = ROOT / "models" / "gpt2.fsd", ROOT / "models" / "llama3.fsd"
    mixed = ("rep=2,dp=2,tp=2", "cp=2,tp=2", "dp=2,cp=2")
    for name, arguments in (("muon", "lr = 0.02, adamw_lr = 1e-3"), ("adafactor", "lr = 0.01")):
        optimizer = ["-s", f"train.optimizer={name}({arguments})"]
        padded = ["-s", 'train."wte.*"=group(muon = true)'] if name == "muon" else []
        worst = 0
        for model, settings, meshes in (
            (gpt, GPT + FEW + padded, ("tp=2", "tp=4", "tp=2,dp=3", "tp=2,rows", *mixed)),
            (llama, FEW_HEADS + FEW, ("tp=4", "tp=8", "dp=2,tp=4")),
        ):
            args = settings + optimizer
            worst = max(worst, near_one(tools, tmp, model, args, meshes, MATRIX_BOUND[name]))
        variants = (
            [],
            ["-s", "shard.strategy=grads"],
            ["-s", "shard.strategy=none"],
            ["-s", "shard.unit=Block", "-s", "shard.layout=param"],
            ["-s", "shard.offload=(states = cpu, params = cpu)"],
        )
        all_same(tools, tmp, gpt, GPT + FEW + padded + optimizer, "dp=2,tp=2", variants)
        all_same(tools, tmp, gpt, GPT + FEW + optimizer, "dp=2,cp=2", variants[:3])
        print(f"{name}: largest relative difference of a loss: {worst:.2g}", file=sys.stderr)


def policies(tools, tmp):
    variants = [
        ["-s", "shard.unit=Block"],
        ["-s", "shard.strategy=grads"],
        ["-s", "shard.strategy=none"],
        ["-s", "shard.unit=root"],
        ["-s", "shard.unit=size(4000)"],
        ["-s", "shard.unit=[Attention, MLP]"],
        ["-s", "shard.prefetch=0"],
        ["-s", "shard.prefetch=2", "-s", "shard.inflight=3"],
        ["-s", "shard.prefetch_at=post", "-s", "shard.prefetch=(forward = 0, backward = 1)"],
        ["-s", "shard.reshard=false"],
        ["-s", "shard.reshard_root=true"],
        ["-s", "shard.align=none"],
    ]
    for n in (2, 4):
        for extra in (
            [],
            ["-s", "train.accumulate=3"],
            ["-s", "train.precision=bf16(master = f32, reduce = f32)"],
        ):
            results = [
                train(tools, tmp, ROOT / "models" / "gpt2.fsd", GPT + FEW + extra + v, n)
                for v in variants
            ]
            for v, r in zip(variants[1:], results[1:]):
                same(f"{n} ranks, {' '.join(extra + v)}", r, results[0])


def repeated(tools, tmp):
    runs = [train(tools, tmp, ROOT / "models" / "gpt2.fsd", GPT, 3) for _ in range(2)]
    same("two runs", *runs)


def main():
    tools, what = sys.argv[1:3], sys.argv[3]
    with tempfile.TemporaryDirectory() as tmp:
        claims = (rounding, exact, policies, repeated, meshes, cut, matrices)
        {claim.__name__: claim for claim in claims}[what](tools, pathlib.Path(tmp))
    print(f"{what}: held")


main()
