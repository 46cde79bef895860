"""Cuts models of many layers into stages. Each unit must be in one stage and no stage empty; by the
work that the plan of one stage lists for the instructions of each unit, the longer of FLOP / 1e11
and bytes / 1e10, the slowest stage must take at most 3 % longer than that of the best contiguous
cut. Prints a line for each plan: units by stage, and how much longer.

    balance.py FSDPC
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

MODEL = """
config { D = 256; classes = 10; layers = 30 }
module Layer {
  norm : LayerNorm(D)
  fc : Linear(D, 4 * D)
  out : Linear(4 * D, D)
  forward(x: [B, D]) { return x + out(relu(fc(norm(x)))) }
}
module Wide {
  fc : Linear(D, 18 * D)
  out : Linear(18 * D, D)
  forward(x: [B, D]) { return x + out(relu(fc(x))) }
}
module Net {
  first : Linear(D, D)
  h : Layer[layers]
  wide : Wide[2]
  head : Linear(D, classes)
  forward(x: [B, D]) {
    x = wide[0](first(x))
    for layer in h { x = layer(x) }
    return head(wide[1](x))
  }
}
model = Net
data { train = synthetic(x = [D], y = classes) }
train { loss = cross_entropy(model(x), y); batch = 8192; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = [Layer, Wide] }
"""
INTERLEAVED = ["-s", "shard.pipeline=interleaved", "-s", "train.accumulate=4"]
CASES = [(30, 4, []), (126, 16, ["-s", "train.accumulate=16"]), (6, 8, []), (30, 4, INTERLEAVED)]


def dump(fsdpc, model, mesh, options):
    command = [fsdpc, "dump", "--raw", "--mesh", mesh, model] + options
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return out.stdout


def work_of(raw):
    """By unit in order of computation, and by stage: seconds of a micro-batch's instructions; and
    the units that each stage computes forward."""
    units, stages, members = collections.Counter(), collections.Counter(), {}
    name, stage, counted = {}, 0, False
    for line in raw.splitlines():
        if at := re.match(r'unit (\d+) "(.*?)"', line):
            name[at[1]] = at[2]
        elif at := re.match(r"program (\w+) (?:stage (\d+) )?", line):
            counted, stage = at[1] in ("first", "train"), int(at[2] or 0)
        elif counted and (at := re.match(r"  #\d+ .*!(\w+) (?:unit \d+ )?(\"\S*\" )?.*"
                                         r"flops (\d+) bytes (\d+) live", line)):
            if at[1] == "update" or re.search(r" (send|receive|state|set_state)\b[ (]", line):
                continue
            seconds = max(int(at[3]) / 1e11, int(at[4]) / 1e10)
            path = (at[2] or '"" ').strip('" ')
            top = re.match(r"(h|wide)\.\d+|", path)[0] or path
            units[top] += seconds
            stages[stage] += seconds
            if at[1] == "forward" and re.match(r"(h|wide)\.\d+$", top):
                members.setdefault(stage, set()).add(top)
    return units, stages, members


def best_cut(work, pieces):
    """The longest piece of the best cut into pieces that are not empty."""
    upto = [0]
    for one in work:
        upto.append(upto[-1] + one)
    longest = upto[:]
    for k in range(1, pieces):
        longest = [min((max(longest[at], upto[end] - upto[at]) for at in range(k, end)),
                       default=float("inf")) for end in range(len(upto))]
    return longest[-1]


def rows_of(units, layers):
    """What the root computes goes with the unit before it, at the beginning with the first."""
    order = ["wide.0"] + ["h.%d" % i for i in range(layers)] + ["wide.1"]
    rest = sum(seconds for path, seconds in units.items() if path not in order)
    first = units.get("first", 0)
    return [units[u] + (first if u == order[0] else rest - first if u == order[-1] else 0)
            for u in order]


def main():
    fsdpc = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.fsd")
        with open(model, "w") as file:
            file.write(MODEL)
        for layers, pp, options in CASES:
            stages = 2 * pp if "shard.pipeline=interleaved" in options else pp
            options = options + ["-s", "layers=%d" % layers]
            cut = options + ["-s", "shard.stages=%d" % stages]
            units, _, _ = work_of(dump(fsdpc, model, "dp=1", options))
            _, taken, members = work_of(dump(fsdpc, model, "pp=%d" % pp, cut))
            sizes = [len(members.get(s, ())) for s in range(stages)]
            best = best_cut(rows_of(units, layers), stages)
            longer = max(taken.values()) / best - 1
            print("%d units, %d stages: %s, %.1f %% longer than the best cut"
                  % (layers + 2, stages, " ".join(str(n) for n in sizes), 100 * longer))
            if sum(sizes) != layers + 2 or len(set().union(*members.values())) != layers + 2:
                print("  not every unit is in one stage")
            if longer > 0.03:
                print("  too long: %s of %g" % (dict(taken), best))


main()
