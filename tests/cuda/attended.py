"""Trains a small GPT-2 in bf16 on the emulated cuda device, with an emulated cuDNN in several
moods.

    attended.py FSDPC FSDP_RUN BUILD FOLDER [KEY=VALUE]... WISH[:MOOD]...

KEY=VALUE is a setting of the model. `forget` removes the file of tuned choices. WISH is
FSDP_CUDA_ATTENTION, MOOD is FSDP_EMULATE_CUDNN (emulate_cudnn.cu; none: there is no such library),
or for the one-pass backward `quick`, `lost`: it writes nothing, or `crash`: it ends the process.
Prints for each how the losses compare with those of WISH own, and the messages about attention."""
import json
import os
import shutil
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
fsdpc, fsdp_run, build, folder, *wishes = sys.argv[1:]
plan = os.path.join(folder, "plan.bin")
run = os.path.join(folder, "fsdp-run")
shutil.copy(fsdp_run, run)
shutil.copy(os.path.join(build, "tests/modules/device_cuda_emulated.so"),
            os.path.join(folder, "device_cuda.so"))
with open(os.path.join(folder, "t.txt"), "w", encoding="ascii") as f:
    f.write("the quick brown fox jumps over the lazy dog. " * 40)
SETTINGS = ("L=1", "D=32", "H=2", "vocab=128", "seq=24", 'data.train=text("t.txt")',
            "data.val=none", "data.length=24", "train.batch=2", "train.steps=3",
            "train.eval_every=none", "train.schedule=constant(warmup = 0)",
            "train.precision=bf16(master = f32)", *(x for x in wishes if "=" in x))
MOODS = {"quick": ("FSDP_EMULATE_FAST", "onepass"), "lost": ("FSDP_EMULATE_LOST", "onepass"),
         "crash": ("FSDP_EMULATE_CRASH", "onepass")}
subprocess.run([fsdpc, "compile", "-q", os.path.join(root, "models/gpt2.fsd"), "-o", plan, "-n",
                "1", *(word for s in SETTINGS for word in ("-s", s))], check=True)


def losses(wish, mood):
    log = os.path.join(folder, "log.jsonl")
    settings = dict(os.environ, FSDP_CUDA_ATTENTION=wish)
    settings.pop("FSDP_EMULATE_CUDNN", None)
    if mood in MOODS:
        settings[MOODS[mood][0]] = MOODS[mood][1]
    elif mood != "none":
        settings["FSDP_EMULATE_CUDNN"] = mood
    done = subprocess.run([run, "--threads", "1", "--device", "cuda", "--quiet", "--log", log,
                           plan], cwd=folder, env=settings, capture_output=True, text=True,
                          check=False)
    said = [line for line in done.stderr.splitlines() if "ttention" in line or "ATTENTION" in line]
    if done.returncode:
        return f"exit code {done.returncode}", said
    with open(log, encoding="utf-8") as f:
        return [e["loss"] for e in map(json.loads, f) if e["event"] == "step"], said


def kept():
    """What the file says of each form: 0 own kernels, 17 the one-pass backward, or cuDNN's plan."""
    if not os.path.exists(plan + ".tuned"):
        return []
    with open(plan + ".tuned", encoding="ascii") as f:
        return [line.split()[3] for line in f if line.startswith("attention ")]


own, _ = losses("own", "none")
for word in (x for x in wishes if "=" not in x):
    wish, _, mood = word.partition(":")
    if wish == "forget":
        os.remove(plan + ".tuned")
        continue
    got, said = losses(wish, mood or "none")
    if isinstance(got, str):
        how = got
    elif got == own:
        how = "the losses of the own kernels"
    else:
        worst = max(abs(a - b) / abs(a) for a, b in zip(own, got))
        how = "losses within 1e-2, other bits" if worst <= 1e-2 else f"losses differ by {worst}"
    print(f"{word}: {how}")
    for line in said:
        print("   ", line)
    if "17" in kept():
        print("    a form is kept in one pass")
if os.path.exists(plan + ".tuned"):
    print(len(kept()), "forms are kept")
