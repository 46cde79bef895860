"""profiled.py FSDPC FSDP_RUN PLAN [OPTION ...]: runs the plan with --profile, and describes the
contents of its trace and its table."""

import collections
import json
import re
import subprocess
import sys

SILENT = {"state", "view", "free", "reshard"}  # say where a value lives, and issue nothing

fsdpc, fsdp_run, plan = sys.argv[1:4]
dump = [fsdpc, "dump", "--raw", plan]
raw = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
ops = {}
for line in raw.splitlines():
    row = re.match(r"  #(\d+) \[\w+\][^=]*?(?:= )?(\w+)\(%", line)
    row = re.match(r"  #(\d+) .*? = (\w+)\(", line) or row
    if row:
        ops[int(row[1])] = row[2]
run = [fsdp_run, "--profile", "trace.json", *sys.argv[4:], plan]
out = subprocess.run(run, capture_output=True, text=True)
if out.returncode:
    sys.exit(out.stderr)
events = json.load(open("trace.json"))["traceEvents"]
spans = [e for e in events if e["ph"] == "X"]

silent = {ops[k] for k in ops.keys() - {e["args"]["instruction"] for e in spans}}
print("without a time:", ", ".join(sorted(silent)))
print("other names:", [e for e in spans if ops[e["args"]["instruction"]] != e["name"]])
threads = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
print("ranks", len({e["pid"] for e in spans}), "streams", ", ".join(sorted(threads)))

# one after the other, from the start of the call to its end
for pid in {e["pid"] for e in spans}:
    ordered = sorted((e for e in spans if e["pid"] == pid), key=lambda e: e["ts"])
    late = sum(a["ts"] + a["dur"] > b["ts"] + 1e-2 for a, b in zip(ordered, ordered[1:]))
    print("rank", pid, "overlaps", late, "negative", sum(e["dur"] < 0 for e in ordered))

# the table is the sum of the trace without the first call of each program
first, total = {}, collections.Counter()
for e in spans:
    if e["pid"] == 0:
        k, call = e["args"]["instruction"], e["args"]["call"]
        if first.setdefault(k, call) < call:
            total[e["name"]] += e["dur"] / 1000
table = out.stdout.split("profile of rank 0")[1].split("unit ")[0]
shown = {m[0]: float(m[1]) for m in re.findall(r"^(\w+) +\d+ +([\d.]+)", table, re.M)}
off = [op for op in total.keys() | shown.keys() if abs(total[op] - shown.get(op, -1)) > 0.01]
print("sums that differ:", off)

# the share of the limit is that of the rates beside it
speed = re.search(r"products in f32 ([\d.]+) GFLOP/s, memory ([\d.]+) GB/s$", out.stdout, re.M)
product, memory = float(speed[1]), float(speed[2])
numbers = r" +\d+ +[\d.]+ +[\d.]+% +[\d.]+ +([\d.]+|-) +([\d.]+|-) +([\d.]+%|-)$"
row = re.compile(r"^(\w+)" + numbers, re.M)
off, known = [], 0
for op, flops, moved, share in row.findall(table):
    if share == "-":
        off += [op] if moved != "-" else []
        continue
    known += 1
    shares = [float(moved) / memory]
    if op.startswith("linear"):
        shares += [float(flops) / product]
    least, most = 100 * max(shares), 100 * sum(shares)
    off += [op] if not 0.97 * least - 1 < float(share[:-1]) < 1.03 * most + 1 else []
print("limits that differ:", off, "of many" if known > 9 else known)
