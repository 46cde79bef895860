#!/usr/bin/env python3
"""The cost of large models and many ranks for fsdpc: tests/bench/size.py [fsdpc]. Prints for each
case wall and processor time, peak memory, and the size of the plan.

On a quiet machine: 1536 layers of GPT-2 in 1.2 s and 300 MiB; a model of 405 billion parameters for
16,384 ranks in 0.3 s."""
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GPT2 = os.path.join(ROOT, "models/gpt2.fsd")
PAIRS = """module Net {
  e : Embedding(257, 8)
  fc : Linear(8, 8, bias = true)[8000]
  head : Linear(8, 257)
  forward(ids) { x = e(ids); for layer in fc { x = relu(layer(x)) }; return head(x) }
}
model = Net
data { train = text("t"); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = adamw }
shard { mesh = (dp = 4); unit = [%s] }
"""


def cases(folder):
    yield "gpt2, 12 layers, 8 ranks", [GPT2, "-n", "8"]
    yield "gpt2, 1536 layers, 8 ranks", [GPT2, "-n", "8", "-s", "L=1536"]
    yield "405B, 126 layers, 16384 ranks", [GPT2, "-n", "16384", "-s", "L=126", "-s", "D=16384",
                                            "-s", "H=128", "-s", "train.batch=16384"]
    yield "gpt2 xl in one unit", [GPT2, "-n", "8", "--preset", "xl", "-s", "shard.unit=root"]
    pairs = os.path.join(folder, "pairs.fsd")
    with open(pairs, "w", encoding="utf-8") as f:
        f.write(PAIRS % ", ".join(f'["fc.{k}", "fc.{k + 1}"]' for k in range(0, 8000, 2)))
    yield "8000 layers in 4000 pairs", [pairs]


def measure(command):
    """Wall and processor seconds and KiB of the child, from the child itself."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: exit code {child.returncode}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss


def main():
    fsdpc = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/fsdpc")
    print(f"{'case':32} {'wall s':>8} {'cpu s':>8} {'MiB':>8} {'plan MiB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "p.bin")
        for name, arguments in cases(folder):
            wall, used, memory = measure([fsdpc, "compile", "-q", *arguments, "-o", plan])
            size = os.path.getsize(plan) / 2 ** 20
            print(f"{name:32} {wall:8.3f} {used:8.3f} {memory / 1024:8.0f} {size:9.1f}")


main()
