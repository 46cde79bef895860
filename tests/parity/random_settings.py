#!/usr/bin/env python3
"""Three models under random legal combinations of all settings of section shard: the checker proves
every plan, and losses, norms and trained weights have the same bits as with one unit and no
other setting, on the same mesh; in f32, some in f16 with a loss scale, some gathered in another
dtype.

    random_settings.py FSDPC FSDP_RUN FIRST_SEED COUNT      500 take three minutes

Adding in another order gives other bits, so a run is compared with one that adds in the same order:
in the shard or before it, replicas at each micro-batch or at the last, all ranks at once (strategy
none on a mesh of two axes). Prints each combination that differs.
"""
import hashlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile

GPT = """use "%s/models/gpt2.fsd"
data { train = synthetic_tokens(vocab = 37); length = 8; val = none }
train { loss = cross_entropy(model(inputs), targets); batch = 72; steps = 3; eval_every = none
        precision = f32; optimizer = adamw(lr = 0.01); schedule = constant(); clip = 0.5 }
"""
GPT_SIZE = ["L=3", "D=16", "H=2", "vocab=37", "seq=8", "drop=0.1"]
NESTED = """module L {
  w : param[4, 4] = normal(0.5)
  b : param[4] = zeros
  forward(x) = gelu(linear(x, w, b), approx = tanh)
}
module O {
  a, c : L
  n : param[4] = ones @frozen
  own : param[2, 8] = normal(0.5)
  forward(x) = x + c(linear(layer_norm(a(x), n), own as [4, 4]))
}
module Net {
  last : Linear(4, 7)
  o : O[2]
  l : L
  e : Embedding(7, 4)
  forward(ids) {
    x = e(ids)
    for layer in o { x = l(layer(x)) }
    return last(x)
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 7); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 72; steps = 3
        optimizer = adafactor(lr = 0.05) }
"""
MIXTRAL = """use "%s/models/mixtral.fsd"
data { train = synthetic_tokens(vocab = 37); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 72; steps = 3; precision = f32
        optimizer = sgd(lr = 0.1, momentum = 0.9); schedule = constant() }
"""
MIXTRAL_SIZE = ["L=2", "D=16", "H=2", "KV=1", "F=12", "E=3", "K=2", "vocab=37", "seq=8"]
# text, config, classes, module paths, parameter globs, most micro-batches, what can be cut along
# another axis than the first: glob, axis and how long that is
MODELS = [(GPT, GPT_SIZE, ["Block", "Attention", "MLP", "Linear"], ["wte", "h.0", "h.2", "ln_f"],
           ["*.bias", "h.1.*", "wpe.*"], 3,
           [("wte.weight", 1, 16), ("h.*.mlp.*.weight", -1, 16), ("h.1.attn.*.weight", 1, 16)]),
          (NESTED, [], ["L", "O", "Linear"], ["e", "o.0", "l", "last"],
           ["*.b", "e.*", "o.1.own"], 3,
           [("*.w", 1, 4), ("e.weight", -1, 4), ("o.1.own", 1, 8)]),
          (MIXTRAL, MIXTRAL_SIZE, ["Block", "Attention", "MoE", "Expert"],
           ["embed_tokens", "layers.1", "lm_head"], ["*norm*", "*.gate.*"], 1,
           [("*.w1.weight", 1, 16), ("*.w2.weight", -1, 12), ("lm_head.weight", 1, 16)])]
MESHES = ["dp = 1", "dp = 2", "dp = 3", "dp = 4", "dp = 6", "rep = 2, dp = 4", "rep = 2, dp = 2",
          "dp = 2, rep = 2", "rep = 3, dp = 1"]


def units(r, classes, paths):
    kind = r.choice(["root", "class", "classes", "size", "hand", "hand"])
    named = {"root": "unit = root", "class": "unit = " + r.choice(classes),
             "classes": "unit = [%s]" % ", ".join(r.sample(classes, 2)),
             "size": "unit = size(%d)" % r.choice([20, 60, 300])}
    if kind != "hand":
        return [named[kind]]
    some = r.sample(paths, 3)
    return [r.choice(list(named.values())), f'"{some[0]}" = unit',
            f'"{some[1]}" = join("{some[2]}")']


OPS = ["linear", "gelu", "layer_norm", "rms_norm", "dropout", "attention", "add", "silu", "mul",
       "softmax", "rope", "embedding", "dispatch", "experts_linear"]


def recompute(r, classes, paths):
    """Nothing, classes, ops, paths or several of them; some with ops that stay."""
    items = r.choice([[], [], [r.choice(classes)], r.sample(classes, 2)])
    if r.random() < 0.3:
        items.append("ops = [%s]" % ", ".join(r.sample(OPS, r.randint(1, 6))))
    by_path = r.choice([[], [], [f'"{r.choice(paths)}" = recompute']])
    if (by_path or items) and r.random() < 0.3:
        items.append("keep = [%s]" % ", ".join(r.sample(OPS, r.randint(1, 3))))
    return by_path + (["recompute = (%s)" % ", ".join(items)] if items else [])


def reshard(r, mesh):
    """True, false, or a number of ranks that divides those of axis dp."""
    shards = int(mesh.split("dp = ")[1].split(",")[0])
    return r.choice(["true", "false", *(k for k in range(1, shards + 1) if shards % k == 0)])


def offload(r):
    """Nothing, or what is kept in host memory or in a file."""
    items = [f"{k} = cpu" for k in ("states", "params", "grads") if r.random() < 0.5]
    if not items or r.random() < 0.4:
        return []
    items += r.choice([[], [], ["buffers = 1"], ["buffers = 3"]])
    items += r.choice([[], [], ['path = "."']])
    return [f"offload = ({', '.join(items)})"]


def columns(r, model, mesh, out):
    """With layout = param, where no parameter is replicated, what the ranks can share evenly."""
    sizes = dict(axis.split(" = ") for axis in mesh.split(", "))
    shards = math.prod(int(sizes.get(axis, 1)) for axis in ("dp", "cp", "zigzag"))
    if "layout = param" not in out or any("replicate" in s for s in out):
        return []
    return [f'"{glob}" = split(dp, axis = {axis})' for glob, axis, length in model[6]
            if length % shards == 0 and r.random() < 0.5]


def settings(r, model, mesh, micro, hybrid, units=units):
    """Settings of section shard, and what says in which order gradients add up."""
    classes, paths, globs = model[2:5]
    strategy = r.choice(["full", "full", "full", "grads", "states", "none"])
    ahead = [r.randint(0, 3), r.randint(0, 3)]
    out = [f"strategy = {strategy}", *units(r, classes, paths),
           "prefetch = (forward = %d, backward = %d)" % tuple(ahead),
           "prefetch_at = " + r.choice(["pre", "post"]),
           "inflight = %d" % (max(ahead) + 1 + r.randint(0, 2)),
           "reduce_buffers = %d" % r.choice([1, 1, 2, 5]),
           "bucket = " + r.choice(["unit", "unit", "100", "700", "2000B", "25MB"]),
           r.choice(["align = 16B", "align = none", "layout = param", "layout = param"])]
    if strategy == "full":
        groups = reshard(r, mesh)
        out += [f"reshard = {groups}", r.choice(["reshard_root = true", "reshard_root = false"])]
        own = r.choice(["true", "false", groups if isinstance(groups, int) else reshard(r, mesh)])
        out += r.choice([[], [f'"{r.choice(paths)}" = reshard({own})']])
    if strategy in ("full", "grads") and micro > 1:
        out += r.choice([["hold = true"], ["hold = false"], []])
    if strategy != "none":
        out += r.choice([[], [], ["replicate_below = %d" % r.choice([16, 300])],
                         [f'"{r.choice(globs)}" = replicate']])
    if strategy != "none":
        out += columns(r, model, mesh, out)
    out += recompute(r, classes, paths)
    out += r.choice([[], [], [], ["cast = update"], ["cast = gather"]])
    local = micro > 1 and (strategy == "states" or r.random() < 0.4)
    last = micro > 1 and hybrid and not local and strategy != "none" and r.random() < 0.5
    if local and strategy != "states":
        out.append("accumulate = local")
    if last:
        out.append("all_reduce = last")
    at_once = strategy == "none" and hybrid
    dtypes = r.choice([[], [], [], ["gather = bf16"], ["gather = f16"], ["gather = f8e4m3"],
                       ["gather = i8"],
                       ["gather = f8e4m3", f'"{globs[0]}" = gather(bf16)'],
                       [f'"{globs[1]}" = gather(f8e4m3)']])
    if strategy == "none" or any("replicate" in s for s in out):
        dtypes = []  # what is not gathered is read in the compute dtype
    return out + dtypes + offload(r), (local, last, at_once, tuple(dtypes))


def one_unit(order):
    """The plainest settings that add up in that order."""
    shard = ["unit = root"]
    shard += ["accumulate = local"] if order[0] else []
    shard += ["all_reduce = last"] if order[1] else []
    shard += ["strategy = none"] if order[2] else []
    return [*shard, *order[3]]


class Runs:
    def __init__(self, fsdpc, fsdp_run, root):
        self.fsdpc, self.fsdp_run, self.root = fsdpc, fsdp_run, root
        self.wanted = {}

    def bits(self, number, mesh, micro, precision, shard):
        text, config = MODELS[number][:2]
        text = text.replace("%s", self.root)
        with open("net.fsd", "w", encoding="utf-8") as f:
            f.write(text + "shard { mesh = (%s)\n  %s\n}\n" % (mesh, "\n  ".join(shard)))
        ranks = eval("*".join(part.split("=")[1] for part in mesh.split(",")))
        batch = 72 if 72 % (ranks * micro) == 0 else 48
        config = [*config, f"train.accumulate={micro}", f"train.batch={batch}",
                  f"train.precision={precision}"]
        options = [x for c in config for x in ("-s", c)]
        for command in [[self.fsdpc, "compile", "-q", *options, "net.fsd", "-o", "plan.bin"],
                        [self.fsdpc, "check", "plan.bin"],
                        [self.fsdp_run, "-n", str(ranks), "--threads", "1", "-q", "--log", "log",
                         "--save", "w.safetensors", "plan.bin"]]:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return " ".join(command) + "\n" + done.stderr
        with open("log", encoding="utf-8") as f:
            steps = [e for e in map(json.loads, f) if e["event"] == "step"]
        os.remove("log")
        with open("w.safetensors", "rb") as f:
            weights = hashlib.sha256(f.read()).hexdigest()
        return [(e["loss"], e["grad_norm"]) for e in steps], weights

    def reference(self, number, mesh, micro, precision, order):
        key = number, mesh, micro, precision, order
        if key not in self.wanted:
            self.wanted[key] = self.bits(number, mesh, micro, precision, one_unit(order))
        return self.wanted[key]


def main():
    fsdpc, fsdp_run = map(os.path.abspath, sys.argv[1:3])
    first, count = int(sys.argv[3]), int(sys.argv[4])
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    os.chdir(tempfile.mkdtemp())
    runs, wrong = Runs(fsdpc, fsdp_run, root), 0
    for seed in range(first, first + count):
        r = random.Random(seed)
        number, mesh = r.randrange(3), r.choice(MESHES)
        micro = r.choice([1, 2, 3]) if MODELS[number][5] > 1 else 1
        hybrid = "rep = 2" in mesh
        shard, order = settings(r, MODELS[number], mesh, micro, hybrid)
        precision = r.choice(["f32", "f32", "f32", "f16", "f16(reduce = f16)"])
        got = runs.bits(number, mesh, micro, precision, shard)
        wanted = runs.reference(number, mesh, micro, precision, order)
        if got != wanted or isinstance(got, str):
            wrong += 1
            print(f"seed {seed}, model {number}, mesh {mesh}, {micro} micro-batches, {precision}: "
                  f"{'; '.join(shard)}\n  {got}\n  {wanted}")
    print(f"{count} combinations of settings, {wrong} differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
