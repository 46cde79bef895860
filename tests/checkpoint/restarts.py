"""restarts.py FSDPC FSDP_RUN local|mpi|nccl|damaged [COUNT [SEED]]: runs under --restarts, in which
a rank is killed (mpi, nccl: or stopped, or one of the processes that started it is killed) at a
random step, once or twice per run. nccl: on emulated GPUs. damaged: transport local, and a bit
of the newest checkpoint is flipped.

Each run resumes by itself from its newest checkpoint and must end with the same bits as an
undisturbed run; its log must have each step once. With a COUNT of 10 or more, for an idle machine,
it must also resume within 5 s after the loss was noticed.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid

import folder

FSDPC, RUN, TRANSPORT = sys.argv[1:4]
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 4
RNG = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
STEPS, EVERY, TIMEOUT, SLOWEST = 1200, 50, 4, 0.0
NOTICED = {signal.SIGKILL: 3, signal.SIGSTOP: 10 * TIMEOUT + 3}  # seconds
DAMAGED = TRANSPORT == "damaged"
OPTIONS = ["-q", "--threads", "1", "--transport", "local" if DAMAGED else TRANSPORT]
if TRANSPORT == "nccl":
    OPTIONS += ["--device", "cuda"]
    STEPS, EVERY = 120, 20
    os.environ["FSDP_EMULATE_GPUS"] = "3"
IS_RANK = {"mpi": b"OMPI_COMM_WORLD_RANK"}.get(TRANSPORT, b"FSDP_RUN_ID")


def told(log):
    lines = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    return [{k: e[k] for k in ("event", "step", "loss", "grad_norm") if k in e}
            for e in lines if e["event"] in ("step", "eval")]


def whole_lines():
    try:
        lines = pathlib.Path("log").read_text().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def victims(mark, keeper):
    """Processes of the run: all but the one that starts it again."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or int(entry.name) == keeper:
                continue
            environment = (entry / "environ").read_bytes()
            if mark.encode() in environment:
                found.append((int(entry.name), IS_RANK in environment))
        except OSError:
            continue
    return found


def damage(step):
    path = min(step.glob("*.safetensors"), key=lambda file: (-file.stat().st_size, file.name))
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)


def hit(mark, keeper):
    """The signal that one process of the run got, or None: it has ended."""
    processes = victims(mark, keeper)
    if not processes:
        return None
    ranks = [pid for pid, is_rank in processes if is_rank]
    number = signal.SIGKILL
    if ranks and RNG.random() < 0.2:
        number = signal.SIGSTOP
    elif RNG.random() < 0.2:
        ranks = []
    pid = RNG.choice(ranks or [pid for pid, _ in processes])
    if DAMAGED:
        os.kill(pid, signal.SIGSTOP)
        damage(max(pathlib.Path("ck").glob("step-????????")))
    os.kill(pid, number)
    return number


def has_another():
    """Is there one to go back to when the newest is damaged? They are written beside the steps."""
    return not DAMAGED or len(list(pathlib.Path("ck").glob("step-????????"))) > 1


def last_step(lines):
    return max((e["step"] for e in lines if e["event"] == "step"), default=-1)


def wait_for(run, what):
    while run.poll() is None and not what(whole_lines()):
        time.sleep(0.02)
    return run.poll() is None


def trial():
    global SLOWEST
    shutil.rmtree("ck", ignore_errors=True)
    for name in ("log", "w"):
        pathlib.Path(name).unlink(missing_ok=True)
    mark, hits, slowest = str(uuid.uuid4()), RNG.choice((1, 2)), 0.0
    hits = 1 if DAMAGED else hits
    run = subprocess.Popen([RUN, *OPTIONS, "--restarts", "3", "--checkpoint", "ck", "--log", "log",
                            "--checkpoint-every", str(EVERY), "--save", "w", "p"],
                           env={**os.environ, "FSDP_TEST_MARK": mark, "FSDP_TIMEOUT": str(TIMEOUT)},
                           stderr=subprocess.PIPE, text=True)
    at, done = 0, 0
    for _ in range(hits):
        at = RNG.randrange(at + EVERY, at + STEPS // 3)
        if not wait_for(run, lambda lines, at=at: last_step(lines) >= at and has_another()):
            break
        before = whole_lines()
        begun = time.time()
        number = hit(mark, run.pid)
        if number is None:
            break
        done += 1
        # the line from which the log goes on was written after that moment
        if wait_for(run, lambda lines: any(e["event"] in ("resume", "start") and e["time"] > begun
                                           for e in lines)):
            took = time.time() - begun
            slowest = max(slowest, took - NOTICED[number])
            if number == signal.SIGKILL:
                SLOWEST = max(SLOWEST, took)
            at = last_step(before)
    errors = run.communicate()[1]
    assert run.returncode == 0, (run.returncode, errors)
    assert errors.count("restart ") >= 1, errors
    assert all(f"restart {i + 1} of 3: the run failed " in errors for i in range(done)), errors
    assert told("log") == told("whole.log"), errors
    assert pathlib.Path("w").read_bytes() == pathlib.Path("whole").read_bytes(), errors
    assert COUNT < 10 or slowest < 5, (slowest, errors)
    beside = [name for name in os.listdir("ck") if name != "lock" and "." in name]
    assert len(beside) == DAMAGED * done and all(n.endswith(".damaged") for n in beside), beside
    return done


pathlib.Path("t.txt").write_text("".join(f"{i}\n" for i in range(300)))
shutil.copy(pathlib.Path(__file__).with_name("net.fsd"), ".")
subprocess.run([FSDPC, "compile", "-q", "net.fsd", "-n", "3", "-o", "p", *folder.FORM, "-s",
                f"train.steps={STEPS}", "-s", "train.eval_every=100"], check=True)
subprocess.run([RUN, *OPTIONS, "--log", "whole.log", "--save", "whole", "p"], check=True,
               stdout=subprocess.DEVNULL)
total = sum(trial() for _ in range(COUNT))
if COUNT >= 10:
    print(f"{total} losses; {SLOWEST:.1f} s at most from a kill to going on", file=sys.stderr)
print(f"{COUNT} runs: same" if total >= COUNT else f"only {total} losses in {COUNT} runs")
