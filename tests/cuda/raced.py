"""Trains a small GPT-2 on the emulated cuda device that looks for races (race.cu).

    raced.py FSDPC FSDP_RUN BUILD FOLDER RANKS[:SEED[:PRECISION]]...

SEED is FSDP_EMULATE_SEED (even: threads in descending order). Prints what was found."""
import os
import shutil
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
fsdpc, fsdp_run, build, folder, *runs = sys.argv[1:]
plan = os.path.join(folder, "plan.bin")
run = os.path.join(folder, "fsdp-run")
shutil.copy(fsdp_run, run)
shutil.copy(os.path.join(build, "tests/modules/device_cuda_raced.so"),
            os.path.join(folder, "device_cuda.so"))
with open(os.path.join(folder, "t.txt"), "w", encoding="ascii") as f:
    f.write("the quick brown fox jumps over the lazy dog. " * 40)
SETTINGS = ("L=1", "D=32", "H=2", "drop=0.1", "vocab=131", "seq=19", 'data.train=text("t.txt")',
            'data.val=text("t.txt", from = 0.5)', "data.length=19", "train.batch=4",
            "train.steps=3", "train.eval_every=2", "train.eval_steps=1",
            "train.schedule=constant(warmup = 0)")
environment = dict(os.environ, FSDP_CUDA_ATTENTION="own", FSDP_CUDA_TUNE="0")

for word in runs:
    ranks, seed, precision = (word.split(":") + ["1", "f32"][word.count(":"):])[:3]
    words = [w for s in (*SETTINGS, "train.precision=" + precision) for w in ("-s", s)]
    subprocess.run([fsdpc, "compile", "-q", os.path.join(root, "models/gpt2.fsd"), "-o", plan,
                    "-n", ranks, *words], check=True)
    done = subprocess.run([run, "-n", ranks, "--threads", "1", "--device", "cuda", "--quiet",
                           plan], cwd=folder, env=dict(environment, FSDP_EMULATE_SEED=seed),
                          capture_output=True, text=True, check=False)
    print(f"{ranks} ranks, order {seed}, {precision}:",
          "nothing found" if done.returncode == 0 else f"exit code {done.returncode}")
    if done.returncode:
        print(done.stderr)
