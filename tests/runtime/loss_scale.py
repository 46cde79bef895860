"""The behaviour of the loss scale of f16 on several ranks.

    loss_scale.py FSDPC FSDP_RUN sequence|resume|lower

A line is fitted to data in which one sample of step 1 is so far off that its gradient overflows f16
while the loss is finite. sequence: the sample is on each rank of 1 to 4 in turn; prints how the
scale changed, once if it is always the same, and checks that step 1 changed no weight. resume: a
run that resumes from a checkpoint of each step has the log and weights of an uninterrupted one.
lower: a scale that stays too large ends the run at step 0; a lower one resumes from the checkpoint
before that step, with the numbers of a run that had it from the beginning.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

FSDPC, FSDP_RUN, WHAT = sys.argv[1:4]
STEPS, BATCH, WIDTH = 6, 12, 4
MODEL = """module Net {
  fc : Linear(%d, 3, bias = true)
  forward(x) = fc(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = mse(model(x), y); batch = %d; steps = %d; precision = f16
        loss_scale = (65536, 2, 0.5, 2); optimizer = adamw(lr = 0.01); clip = 1 }
shard { unit = Linear }
""" % (WIDTH, BATCH, STEPS)


def npy(path, rows):
    shape = len(rows), len(rows[0])
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % shape
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = b"".join(struct.pack("<%df" % len(r), *r) for r in rows)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def data(folder, far, value=1e6):
    n = STEPS * BATCH
    x = [[((7 * i + 3 * k) % 11 - 5) / 16 for k in range(WIDTH)] for i in range(n)]
    y = [[sum(r) / 8 + k / 16 for k in range(3)] for r in x]
    y[far][1] = value
    npy(folder / "x.npy", x)
    npy(folder / "y.npy", y)


def run(folder, ranks, *options, scale=None, code=0):
    (folder / "net.fsd").write_text(MODEL)
    setting = ["-s", f"train.loss_scale={scale}"] if scale else []
    subprocess.run([FSDPC, "compile", "-q", "net.fsd", "-o", "p", "-n", str(ranks), *setting],
                   cwd=folder, check=True, stderr=subprocess.DEVNULL)
    (folder / "log").unlink(missing_ok=True)  # a resumed run would go on with it
    ended = subprocess.run([FSDP_RUN, "--quiet", "--threads", "1", "--log", "log", "--save", "w",
                            *options, "p"], cwd=folder, check=False,
                           stderr=subprocess.DEVNULL if code or scale else None).returncode
    assert ended == code, f"exit code {ended}"
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    steps = [(e["step"], e["loss"], e["grad_norm"], e["loss_scale"], e.get("skipped", False))
             for e in lines if e["event"] == "step"]
    return steps, (folder / "w").read_bytes()


def sequence(folder):
    seen = set()
    for ranks in (1, 2, 3, 4):
        for rank in range(ranks):
            data(folder, BATCH + rank * BATCH // ranks)
            steps, _ = run(folder, ranks)
            seen.add(" ".join(f"{s[3]:g}{' skipped' if s[4] else ''}" for s in steps[:4]))
            weights = [run(folder, ranks, "--steps", str(n))[1] for n in (1, 2, 3)]
            if weights[0] != weights[1] or weights[1] == weights[2]:
                print(f"{ranks} ranks, on rank {rank}: the wrong step was left out")
    print("\n".join(sorted(seen)))


def resume(folder):
    data(folder, BATCH + 5)
    wanted = run(folder, 2)
    for step in range(1, STEPS):
        ck = f"ck{step}"
        run(folder, 2, "--steps", str(step), "--checkpoint", ck)
        found = run(folder, 3 if step == 3 else 2, "--resume", ck)
        whole = step != 3  # on other ranks within rounding
        if whole and (found[0] != wanted[0][step:] or found[1] != wanted[1]):
            print(f"from step {step} on: {found[0]} instead of {wanted[0][step:]}")
        if [s[3] for s in found[0]] != [s[3] for s in wanted[0][step:]]:
            print(f"from step {step} on: another loss scale")
    print("resumed")


def lower(folder):
    data(folder, 5, 1000)
    run(folder, 2, "--checkpoint", "ck", scale=65536, code=5)
    found = run(folder, 2, "--resume", "ck", scale=16)
    wanted = run(folder, 2, scale=16)
    print("the same" if found == wanted else f"{found[0]} instead of {wanted[0]}")


with tempfile.TemporaryDirectory() as t:
    {"sequence": sequence, "resume": resume, "lower": lower}[WHAT](pathlib.Path(t))
