#!/usr/bin/env python3
"""How long fsdpc takes: tests/bench/compile.py [fsdpc]. Compiles gpt2.fsd for 8 ranks with 12,
120 and 1200 layers, each several times, and prints the shortest time and the processor time of
that run. The promise: 12 layers in 50 ms, ten times the layers in at most twelve times the time."""
import os
import resource
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def compile_once(fsdpc, layers):
    command = [fsdpc, "compile", "-q", os.path.join(ROOT, "models/gpt2.fsd"), "-n", "8",
               "-s", f"L={layers}", "-o", os.devnull]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (end - start) * 1e3, used * 1e3


def main():
    fsdpc = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/fsdpc")
    print(f"{'layers':>8} {'wall ms':>10} {'cpu ms':>10} {'ratio':>8}")
    last = None
    for layers, times in ((12, 20), (120, 10), (1200, 3)):
        wall, used = min(compile_once(fsdpc, layers) for _ in range(times))
        print(f"{layers:>8} {wall:>10.1f} {used:>10.1f} {wall / last if last else 1:>8.1f}")
        last = wall


main()
