"""Adds up the memory of each stage of a pipeline from the types that a plan lists, without the
addresses that the compiler gave: states, kept activations for each micro-batch under way, and what
is live in the programs. Compares the sum with predicted_peak_bytes. Prints a line for each plan:
slots of kept activations, bytes that placement could not use, and layers kept, by role; then what
differs.

    memory.py FSDPC
    memory.py FSDPC MODEL MESH [SETTING ...]     of that model, without the formula for a layer
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

BATCH, WIDTH, CLASSES, LAYERS = 16, 24, 7, 8
MODEL = """
config { D = %d; classes = %d; layers = %d }
module Layer {
  fc : Linear(D, D, bias = true)
  norm : LayerNorm(D)
  forward(x: [B, D]) { return x + relu(fc(norm(x))) }
}
module Net {
  h : Layer[layers]
  head : Linear(D, classes)
  forward(x: [B, D]) {
    for layer in h { x = layer(x) }
    return head(x)
  }
}
model = Net
data { train = synthetic(x = [D], y = classes) }
train { loss = cross_entropy(model(x), y); batch = %d; optimizer = adamw(lr = 0.01); steps = 1 }
shard { unit = Layer }
""" % (WIDTH, CLASSES, LAYERS, BATCH)

CASES = [
    ("pp=4,dp=2", [], (1, 2, 4)),
    ("pp=2,dp=2", ["shard.hold=true"], (2, 4)),
    ("pp=2,dp=4", ["shard.reshard=2"], (4,)),
    ("pp=4", ["shard.accumulate=local"], (8,)),
    ("pp=3", ["train.precision=bf16"], (4,)),
    ("pp=4,dp=2", ["shard.pipeline=gpipe"], (2, 4)),
    ("pp=2,dp=2", ["shard.pipeline=interleaved", "shard.stages=4"], (2, 4, 8)),
    ("pp=4", ["shard.pipeline=interleaved", "shard.stages=8"], (4, 8, 16)),
]

VIEWS = {"view", "reshape"}
# Their result is their first operand with other contents.
IN_PLACE = {"all_reduce", "metric_add", "accumulate"}
# A result may be written over an operand of the same size that nothing reads later.
OVER = {"add", "relu", "gelu", "fused", "relu_grad", "gelu_grad", "add_layer_norm",
        "layer_norm_grad", "cross_entropy", "cross_entropy_both", "linear_grad_input_gelu"}


def aligned(n):
    return -(-n // 256) * 256


def bytes_of(text):
    """Of a type such as f32[2, 3x8*tp, 50:56]; a token has none."""
    at = re.match(r"[a-z]+(\d+)\w*\[(.*)\]", text)
    if not at:
        return 0
    n = int(at[1]) // 8
    for size in re.findall(r"[\dx]+", re.sub(r"\d+:|\*\w+", "", at[2])):
        for factor in size.split("x"):
            n *= int(factor)
    return n


class Instruction:
    def __init__(self, body):
        at = re.match(r"(?:(%[^=]*) = )?(\w+)(?:\(([^)]*)\))?", body)
        self.op = at[2]
        self.out = re.findall(r"%(\d+): (.*?)(?: @\d+)?(?=, %|$)", at[1] or "")
        self.read = re.findall(r"%(\d+)", at[3] or "")


def read_plan(raw):
    """States as (role of state, type, stage or None); programs as (stage, instructions)."""
    states, programs = [], []
    for line in raw.splitlines():
        if at := re.match(r'state \d+ "\S*" (\w+) (\S.*?\])(?: group \d+)?(?: stage (\d+))? @',
                          line):
            states.append((at[1], at[2], at[3] and int(at[3])))
        elif at := re.match(r"program \w+ stage (\d+)", line):
            programs.append((int(at[1]), []))
        elif at := re.match(r"  #\d+ (?:\[\w+\] )?(?:wait\([^)]*\) )?(.*) live \d+$", line):
            programs[-1][1].append(Instruction(at[1]))
    return states, programs


def live_bytes(instructions):
    """The most that values outside states need at once."""
    place, size, exact = {}, {}, {}

    def find(value):
        while place[value] != value:
            value = place[value]
        return value

    in_state, maker, readers = set(), {}, collections.Counter()
    for one in instructions:
        readers.update(one.read)
        for value, text in one.out:
            maker[value] = one.op
            place[value], exact[value] = value, bytes_of(text)
            size[value] = aligned(exact[value])
        if one.op in VIEWS | IN_PLACE:
            for (value, _), operand in zip(one.out, one.read):
                place[value] = find(operand)
    for one in instructions:
        for operand in one.read if one.op == "pack" else ():
            place[find(operand)] = find(one.out[0][0])
        for (value, _), operand in zip(one.out, one.read) if one.op == "unshard" else ():
            if maker[operand] == "cast" and readers[operand] == 1:
                place[operand] = value  # cast to where the gather reads it
    for one in instructions:
        kept = [one.out[0][0]] if one.op == "state" else one.read if one.op == "set_state" else []
        in_state.update(find(value) for value in kept)
    first, last = {}, {}
    for k, one in enumerate(instructions):
        for value in one.read + [value for value, _ in one.out]:
            first.setdefault(find(value), k)
            last[find(value)] = k
    most = 0
    for k, one in enumerate(instructions):
        live = {r: size[r] for r in first if first[r] <= k <= last[r] and r not in in_state}
        ended = [exact[r] for r in live if last[r] == k and first[r] < k]
        for value, _ in one.out if one.op in OVER else ():
            if first[find(value)] == k and exact[value] in ended and live.get(find(value)):
                ended.remove(exact[value])
                live[find(value)] = 0
        most = max(most, sum(live.values()))
    return most


def slots_of(pipeline, role, roles, chunks, micro):
    """Micro-batches, or chunks of them, under way at once. The last stage keeps nothing."""
    if pipeline == "gpipe":
        return micro
    if pipeline == "interleaved":
        chunks_kept = chunks - (role == roles - 1)
        return min(micro * chunks_kept, 2 * (roles - role - 1) + (chunks - 1) * roles + 1)
    return min(micro, roles - role)


def layers_of(slot, samples, element):
    """How many layers of MODEL keep that much for backward. Each keeps three values as large as its
    input, and two f32 a sample; the input of the first one is the batch."""
    value, number = aligned(samples * WIDTH * element), aligned(samples * 4)
    for n in range(LAYERS + 1):
        if slot in (n * (3 * value + 2 * number), n * (3 * value + 2 * number) - value):
            return n
    return "%d bytes of" % slot


def sum_memory(raw, pipeline, micro, roles):
    """By role: bytes of states, of a slot, of all; slots. And what each stage keeps."""
    states, programs = read_plan(raw)
    stages = 1 + max(stage for stage, _ in programs)
    kept = [sum(aligned(bytes_of(text)) for role, text, stage in states
                if role == "kept" and stage == s) for s in range(stages)]
    found = []
    for r in range(roles):
        own = sum(aligned(bytes_of(text)) for role, text, stage in states
                  if role != "kept" and (stage is None or stage % roles == r))
        slot = max(kept[r::roles])
        slots = slots_of(pipeline, r, roles, stages // roles, micro) if slot else 0
        live = max(live_bytes(i) for stage, i in programs if stage % roles == r)
        found.append((own + slots * slot, slot * slots, own + slots * slot + live, slots))
    return found, kept, states


class Checker:
    def __init__(self, fsdpc, model):
        self.fsdpc, self.model = fsdpc, model

    def dump(self, mesh, settings, *options):
        command = [self.fsdpc, "dump", *options, "--mesh", mesh, self.model]
        for setting in settings:
            command += ["-s", setting]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode:
            sys.exit(out.stderr)
        return out.stdout

    def check(self, mesh, settings, micro):
        pipeline = ([s.split("=")[1] for s in settings if "pipeline" in s] + ["one_f_one_b"])[0]
        roles = int(re.match(r"pp=(\d+)", mesh)[1])
        settings = settings + ["train.accumulate=%d" % micro]
        peak = json.loads(self.dump(mesh, settings, "--format=json"))["predicted_peak_bytes"]
        found, kept, states = sum_memory(self.dump(mesh, settings, "--raw"), pipeline, micro, roles)
        listed = [(r["states"], r["kept"], aligned(r["arena"])) for r in peak["by_role"]]
        unused = [plan[2] - own[2] for plan, own in zip(listed, found)]
        print(mesh, *settings, "slots", *(f[3] for f in found), "unused", *unused, end="")
        if [r[:2] for r in listed] != [f[:2] for f in found] or min(unused) < 0:
            print("\n  plan", listed, "\n  sum ", [f[:3] for f in found], end="")
        if aligned(peak["arena"]) != max(r[2] for r in listed):
            print("\n  the largest is not", peak["arena"], end="")
        return found, kept, states


def check_layers(checker, mesh, settings, micro):
    """Of MODEL, where what a layer keeps is known."""
    found, kept, states = checker.check(mesh, settings, micro)
    roles = int(re.match(r"pp=(\d+)", mesh)[1])
    samples = BATCH // micro // (int(mesh.split("dp=")[1]) if "dp" in mesh else 1)
    element = 2 if "train.precision=bf16" in settings else 4
    layers = [layers_of(max(kept[r::roles]), samples, element) for r in range(roles)]
    print("; layers", *(f[3] * n if isinstance(n, int) else n for f, n in zip(found, layers)))
    if any(re.search(r"\b%d\b" % CLASSES, text) for role, text, _ in states if role == "kept"):
        print("  logits are kept")


def main():
    if len(sys.argv) > 2:
        fsdpc, model, mesh, *settings = sys.argv[1:]
        micro = ([int(s.split("=")[1]) for s in settings if "accumulate" in s] + [1])[0]
        Checker(fsdpc, model).check(mesh, [s for s in settings if "train.acc" not in s], micro)
        print()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.fsd")
        with open(path, "w") as file:
            file.write(MODEL)
        for mesh, settings, micros in CASES:
            for micro in micros:
                check_layers(Checker(sys.argv[1], path), mesh, settings, micro)


if __name__ == "__main__":
    main()
