#!/usr/bin/env python3
"""The time that fsdpc takes: tests/bench/compile.py [fsdpc]. Compiles gpt2.fsd for 8 ranks with 12,
120 and 1200 layers, each several times, and prints the shortest time and the processor time of
that run. The promise: 12 layers in 50 ms. Measured: from 12 to 120 layers it takes 7 times as
long, from 120 to 1200 layers 14 times.

Then the time of pass fuse_elementwise if one value has 1,000, 2,000 and 4,000 uses, which must be
linear; and the time of 1,000 settings of one parsed gpt2.fsd in one process, with one thread and
with two (needs build/tests/modules/variants). The promise: 5 s.
Last, processor time of `fsdpc fit` of Llama 3 8B, where something fits and where nothing does. The
promise: 5 s."""
import os
import resource
import subprocess
import sys
import tempfile
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


MANY = """module Net {
  e : Embedding(64, 8); fc : Linear(8, 8); head : Linear(8, 64)
  forward(ids) { x = e(ids); s = x; %s return head(s) }
}
model = Net
data { train = text("t"); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = adamw }
"""


def uses(fsdpc, count):
    """Milliseconds of fuse_elementwise."""
    with tempfile.NamedTemporaryFile("w", suffix=".fsd") as file:
        file.write(MANY % ("s = s + fc(x) * x\n" * count))
        file.flush()
        command = [fsdpc, "compile", "-q", "--pass-timing", file.name, "-o", os.devnull]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return next(float(x.split()[1]) for x in said.splitlines() if x.startswith("fuse_elementwise"))


def fit(fsdpc, memory):
    """Seconds of processor time."""
    command = [fsdpc, "fit", os.path.join(ROOT, "models/llama3.fsd"), "--preset", "8b",
               "--memory", memory]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    fsdpc = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/fsdpc")
    print(f"{'layers':>8} {'wall ms':>10} {'cpu ms':>10} {'ratio':>8}")
    last = None
    for layers, times in ((12, 20), (120, 10), (1200, 3)):
        wall, used = min(compile_once(fsdpc, layers) for _ in range(times))
        print(f"{layers:>8} {wall:>10.1f} {used:>10.1f} {wall / last if last else 1:>8.1f}")
        last = wall
    for count in (1000, 2000, 4000):
        best = min(uses(fsdpc, count) for _ in range(3))
        print(f"{count:>8} uses of one value: fuse_elementwise {best:.1f} ms")
    variants = os.path.join(os.path.dirname(fsdpc), "tests/modules/variants")
    for threads in ("1", "2"):
        print(end=f"{threads:>8} threads: ", flush=True)
        subprocess.run([variants, "8", os.path.join(ROOT, "models/gpt2.fsd"), "1000", threads],
                       check=True, stderr=subprocess.STDOUT)
    for memory in ("80GiB", "2GiB"):
        print(f"fit of 8B to {memory}: {min(fit(fsdpc, memory) for _ in range(3)):.2f} s")


main()
