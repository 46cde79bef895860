"""A trace as fsdp-run --profile writes it, of a machine with known constants: traced.py RANKS reads
`fsdpc dump --raw` of a plan. Products take 3 us and their operations at 41 GFLOP/s, attention 2 us
and 20 GFLOP/s; collectives 10 us and the bytes of their full side at 4 GB/s, an all-reduce twice
that; all other kernels 2 us and their bytes at 8 GB/s. The first call takes ten times as long, and
of collectives one rank waits for the other."""
import json
import re
import sys

WIDTH = {"f32": 4, "bf16": 2, "i32": 4}
COLLECTIVES = ("unshard", "reduce_scatter", "all_reduce")
PRODUCTS = re.compile(r"linear|matmul|experts_linear")
ranks = int(sys.argv[1])


def seconds(op, kind, sizes, flops, bytes_):
    full = WIDTH.get(kind, 1)
    for size in re.findall(r"\d+", sizes):
        full *= int(size)
    if op in COLLECTIVES:
        full *= ranks if op == "reduce_scatter" else 1
        return (10e-6 + full / 4e9) * (2 if op == "all_reduce" else 1)
    if PRODUCTS.match(op):
        return 3e-6 + flops / 41e9
    if op.startswith("attention"):
        return 2e-6 + flops / 20e9
    return 2e-6 + bytes_ / 8e9


LINE = re.compile(r" *#(\d+) .*%\d+: (\w+)\[([\d, ]*)\].* = (\w+)\(.* flops (\d+) bytes (\d+) ")
events = []
for line in sys.stdin:
    if not (m := LINE.match(line)):
        continue
    instr, kind, sizes, op, flops, bytes_ = m.groups()
    took = seconds(op, kind, sizes, int(flops), int(bytes_)) * 1e6
    for call in range(3):
        for rank in range(ranks):
            waits = 500 if op in COLLECTIVES and rank == call % ranks else 0
            args = {"instruction": int(instr), "call": call, "flops": int(flops),
                    "bytes": int(bytes_)}
            events.append({"ph": "X", "name": op, "pid": rank, "tid": 0, "ts": 0.0,
                           "dur": took * (1 if call else 10) + waits, "args": args})
print(json.dumps({"traceEvents": events}))
