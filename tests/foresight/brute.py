"""Compares each number of `fsdpc fit` with plans that `fsdpc compile` writes: brute.py FSDPC DEVICE
MEMORY MODEL MOST OPTION... MODEL is compiled for each number of samples and each length from the
answer to MOST, or a little beyond the answer if that is larger, for each number of ranks from 1 on
as far, and with each setting and mesh that fit names. Prints the answers and what differs."""
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

fsdpc, device, memory, model, most = sys.argv[1:6]
given, BEYOND = sys.argv[6:], 20


def run(*words):
    return subprocess.run([fsdpc, *words], capture_output=True, text=True)


def without(words, *options):
    return [w for i, w in enumerate(words)
            if w not in options and (not i or words[i - 1] not in options)]


own = without(given, "--outside")


def compiled(options):
    """(bytes on the device, bytes on the host) of the plan, or None if it does not compile."""
    with_mesh = without(own, "-n", "--mesh") if "--mesh" in options else own
    name = f"{abs(hash(tuple(options)))}.plan"
    if run("compile", "-q", model, "-o", name, *with_mesh, *options).returncode:
        return None
    peak = json.loads(run("dump", "--format=json", name).stdout)["predicted_peak_bytes"]
    return peak[device], peak.get("host", {"bytes": 0})["bytes"]


def fits(options):
    needs = compiled(options)
    return needs is not None and needs[0] <= room


def set_words(row):
    words = [w for s in row["set"] for w in ("-s", s)]
    return words + (["--mesh", row["mesh"]] if "mesh" in row else [])


def same(title, row, options):
    needs = compiled(options)
    told = (row["peak_bytes"], row["host_bytes"]) if "peak_bytes" in row else None
    if needs != told:
        print(f"{title}: fit says {told}, compile {needs}")
    left = room - told[0] if told else -1
    if row.get("room_bytes", -1) != left or row["fits"] != (left >= 0):
        print(f"{title}: {left} are left: {row}")


def values(first, answer):
    return range(max(first, 1), max(int(most), answer + BEYOND) + 1)


done = run("fit", "--format=json", "--memory", memory, "--device", device, model, *given)
if not done.stdout:
    sys.exit(done.stderr)
fit = json.loads(done.stdout)
room = fit["memory_bytes"] - fit["outside_bytes"]
config = json.loads(run("dump", "--stage=config", "--format=json", model, *own).stdout)


def setting(section, key):
    return config[section][key]["value"]


mesh = {a: int(n) for a, n in re.findall(r"(\w+) = (\d+)", setting("shard", "mesh"))}
cut = mesh.get("tp", 1) * mesh.get("cp", 1)
replicas, micro = mesh.get("rep", 1), setting("train", "accumulate") or 1
share = fit["ranks"] // cut * micro
k = setting("train", "batch") // share


def batch_options(batch):
    return ["-s", f"train.batch={batch}", "-s", f"train.accumulate={micro}"]


def ranks_options(shards):
    sizes = ",".join(f"{a}={n}" for a, n in {"dp": 0, **mesh, "dp": shards}.items())
    return ["--mesh", sizes, *batch_options(k * shards * replicas * micro)]


with ThreadPoolExecutor(2) as pool:
    def those(options, answers):
        good = pool.map(lambda x: fits(options(x)), answers)
        return [x for x, fit_well in zip(answers, good) if fit_well]

    def most_of(options, answer):
        return those(options, values(answer or 0, answer or 0))

    samples = most_of(lambda n: batch_options(n * share), fit["most"]["samples_a_rank"])
    lengths = [] if fit["most"]["length"] is None else \
        most_of(lambda n: ["-s", f"data.length={n}"], fit["most"]["length"])
    shards = those(ranks_options, values(1, (fit["least"]["ranks"] or 0) // (replicas * cut)))
for title, told, found in (
        ("samples", fit["most"]["samples_a_rank"], max(samples, default=0)),
        ("length", fit["most"]["length"] or 0, max(lengths, default=0)),
        ("ranks", fit["least"]["ranks"], min(shards, default=0) * replicas * cut)):
    print(f"{title}: {told}" if told == found else f"{title}: fit says {told}, compile {found}")
same("as written", fit, [])
for row in fit["settings"]:
    same(row["set"], row, ["-s", row["set"]])
for title in ("together", "mesh"):
    if fit[title]:
        same(title, fit[title], set_words(fit[title]))
        print(f"{title}: {' '.join(set_words(fit[title]))}")
anything = any(r["fits"] for r in fit["settings"]) or fit["fits"] or bool(samples) or \
    bool(fit["together"] and fit["together"]["fits"])
print(f"{len(fit['settings'])} settings, exit {done.returncode}")
if anything != (done.returncode == 0):
    print("the exit code is wrong")
