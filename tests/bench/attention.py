#!/usr/bin/env python3
"""Attention on the CPU: our kernels and PyTorch's scaled_dot_product_attention, forward and
backward.

    tests/bench/attention.py [--build DIR] [--threads N] [--rounds N] [--only T,h,causal,dtype]
    tests/bench/attention.py --window N ..      a window of N against no window, without PyTorch

Needs `ninja build/bench/kernels` and a Python with torch, which runs with bound threads and in each
cell with the fastest allocator of tuned.py. Both run alternately, N rounds in each cell;
milliseconds are the best of the rounds. `best` is the ratio of the best of both, ours / PyTorch's,
forward and backward together; `median` is the median of the ratios by round. q, k and v have the
layout of a model, [B, T, H, h]. Cells with a ratio above 1 end in `slower`. BENCH_PROCESSOR_TIME=1
with one thread counts processor time, for a machine that runs other programs too.
"""
import argparse
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import time

import tuned

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
now = time.process_time if os.environ.get("BENCH_PROCESSOR_TIME") else time.perf_counter
MOST_HEADS, FLOPS, LEAST_SECONDS = 192, 1e10, 0.02


def shape_of(t, h):
    """samples and heads of a call that takes no more than half a second"""
    heads = max(2, min(MOST_HEADS, int(FLOPS / (4 * t * t * h))))
    return (heads // 12, 12) if heads >= 12 else (1, heads)


class Side:
    """A program that is told shapes and says how long a call takes."""

    def __init__(self, command, environment=None):
        self.run = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=environment,
        )

    def seconds(self, shape, causal, dtype, calls, window=0):
        cell = *shape, int(causal), window, dtype, calls
        self.run.stdin.write(" ".join(map(str, cell)) + "\n")
        self.run.stdin.flush()
        return [float(x) / 1e3 for x in self.run.stdout.readline().split()]


def peer_main(threads):
    import torch
    import torch.nn.functional as F

    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)
    last = None
    for line in sys.stdin:
        *numbers, dtype, calls = line.split()
        if last != (numbers, dtype):
            last, (*shape, causal, _) = (numbers, dtype), map(int, numbers)
            kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
            q, k, v = (torch.randn(shape).to(kind).requires_grad_() for _ in range(3))
            slope = torch.randn(shape).to(kind).transpose(1, 2)
        times = [0.0, 0.0]
        for _ in range(int(calls)):
            start = now()
            heads = [x.transpose(1, 2) for x in (q, k, v)]
            out = F.scaled_dot_product_attention(*heads, is_causal=bool(causal))
            middle = now()
            torch.autograd.grad(out, (q, k, v), slope)
            times[0] += middle - start
            times[1] += now() - middle
        print(*(t / int(calls) * 1e3 for t in times), flush=True)


def measure(ours, peers, t, h, causal, dtype, rounds):
    b, heads = shape_of(t, h)
    cell = ((b, t, heads, h), causal, dtype)
    for side in (ours, *peers.values()) * 2:
        once = sum(side.seconds(*cell, 1))
    calls = max(1, int(LEAST_SECONDS / max(1e-5, once)))
    allocator = min(peers, key=lambda name: sum(peers[name].seconds(*cell, calls)))
    pairs = []
    for _ in range(rounds):
        pairs.append((ours.seconds(*cell, calls), peers[allocator].seconds(*cell, calls)))
    best = [[min(p[who][way] for p in pairs) * 1e3 for way in (0, 1)] for who in (0, 1)]
    ratio = min(sum(p[0]) for p in pairs) / min(sum(p[1]) for p in pairs)
    median = statistics.median(sum(p[0]) / sum(p[1]) for p in pairs)
    name, slower = "causal" if causal else "full", "  slower" if max(ratio, median) > 1 else ""
    print(
        f"{t:>5} {h:>4} {name:<6} {dtype:<5} {b:>3} x {heads:<3}"
        + "".join(f" {x:>8.2f}" for x in best[0] + best[1])
        + f" {ratio:>6.2f} {median:>6.2f}  {allocator}{slower}",
        flush=True,
    )


def compare_window(ours, t, h, causal, dtype, rounds, window):
    b, heads = shape_of(t, h)
    cell = ((b, t, heads, h), causal, dtype, 1)
    best = [min(sum(ours.seconds(*cell, w)) for _ in range(rounds)) * 1e3 for w in (0, window)]
    print(f"{t:>5} {h:>4} {'causal' if causal else 'full':<6} {dtype:<5} {b:>3} x {heads:<3}"
          f" {best[0]:>8.2f} {best[1]:>8.2f} {best[1] / best[0]:>6.2f}", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="as 1024,64,causal,f32; a part may be left out")
    parser.add_argument("--window", type=int, default=0)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        return peer_main(args.threads)
    kernels = (args.build / "bench/kernels", args.build / "device_cpu.so", args.threads)
    ours = Side([*kernels, "attention"])
    cells = [x for x in itertools.product((64, 256, 1024, 4096, 8192), (64, 128),
                                          ("causal", "full"), ("f32", "bf16"))
             if all(y in map(str, x) for y in args.only.split(",") if y)]  # fmt: skip
    if args.window:
        print("    T    h              B x H       all window  ratio")
        for t, h, way, dtype in cells:
            compare_window(ours, t, h, way == "causal", dtype, args.rounds, args.window)
        return
    peer = [sys.executable, __file__, "--peer", "--threads", args.threads]
    peers = {
        name: Side(peer, {**environment, **tuned.BOUND})
        for name, environment in tuned.allocators().items()
    }
    print(
        "    T    h              B x H         ours     back    torch     back   best median"
        "  its allocator"
    )
    for t, h, way, dtype in cells:
        measure(ours, peers, t, h, way == "causal", dtype, args.rounds)


if __name__ == "__main__":
    main()
