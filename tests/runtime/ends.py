"""Starts runs of 4 processes that end by themselves, or by SIGKILL or SIGSTOP at random moments.

    ends.py BUILD FOLDER [--starts N] [--kills N] [--stops N] [--seed N] [--with 'OPTIONS']

Each must end with the right exit code and at most one error message that names the rank; no process
of it may live on, and no incomplete file may be left. A kill may come so early that there is no
rank yet, or so late that the run is over.
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import uuid

LIMIT = 400  # seconds after which a run hangs
TIMEOUT = 8  # FSDP_TIMEOUT
MODEL = """
module Toy { emb : Embedding(128, 8); out : Linear(8, 128); forward(x) = out(emb(x)) }
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1000000
        optimizer = sgd(lr = 0.1) }
"""


def processes_with(mark):
    """(pid, name) of every living process that has the mark in its environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark.encode() not in (entry / "environ").read_bytes():
                continue
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state not in "ZX":
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            continue
    return found


class Trial:
    def __init__(self, options, steps):
        self.mark = str(uuid.uuid4())
        self.save = options.folder / "weights"
        self.save.unlink(missing_ok=True)
        self.before = set(os.listdir(options.folder))
        self.folder = options.folder
        env = dict(os.environ, FSDP_TIMEOUT=str(TIMEOUT), FSDP_TEST_MARK=self.mark)
        command = [options.build / "fsdp-run", *options.options.split(), "--threads", "1",
                   "--quiet", "--save", "weights", "--steps", str(steps), "plan"]
        self.process = subprocess.Popen(command, cwd=options.folder, env=env, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)

    def ranks(self):
        """The processes that are ranks, as far as they are there yet."""
        family = [pid for pid, name in processes_with(self.mark) if name == "fsdp-run"]
        return [pid for pid in family if pid != self.process.pid]

    def end(self, codes):
        try:
            _, err = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            states = processes_with(self.mark)
            for pid, _ in states:
                os.kill(pid, signal.SIGKILL)
            return f"it hung: {states}"
        code = self.process.returncode
        deadline = time.monotonic() + 60
        while processes_with(self.mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = processes_with(self.mark)
        # what device cuda found out about products stays beside the plan
        new = set(os.listdir(self.folder)) - self.before - {"plan.tuned"}
        if code not in codes:
            return f"exit code {code}, expected one of {codes}: {err}"
        if left:
            return f"left behind: {left}"
        if err.count("error:") != (1 if code else 0) or (code and "rank" not in err):
            return f"wanted one message, got: {err!r}"
        if new != ({"weights"} if code == 0 else set()):
            return f"files left: {new}"
        return None


def disturbed(options, rng, sent):
    trial = Trial(options, 1000000)
    time.sleep(rng.uniform(0, 2.0))
    while not (ranks := trial.ranks()) and trial.process.poll() is None:
        time.sleep(0.01)
    try:
        os.kill(rng.choice(ranks), sent)
    except (IndexError, ProcessLookupError):
        pass
    return trial.end([4])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    for name in ("starts", "kills", "stops"):
        parser.add_argument("--" + name, type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--with", dest="options", default="--transport mpi")
    options = parser.parse_args()
    options.build, options.folder = options.build.resolve(), options.folder.resolve()
    (options.folder / "m.fsd").write_text(MODEL)
    (options.folder / "t.txt").write_text("".join(f"{i}\n" for i in range(3000)))
    subprocess.run([options.build / "fsdpc", "compile", "-q", "m.fsd", "-o", "plan", "-n", "4"],
                   cwd=options.folder, check=True)
    rng = random.Random(options.seed)
    kinds = [("start", options.starts), ("kill", options.kills), ("stop", options.stops)]
    failures = 0
    for kind, count in kinds:
        begun, slowest = time.monotonic(), 0.0
        for i in range(count):
            at = time.monotonic()
            if kind == "start":
                problem = Trial(options, rng.randrange(3)).end([0])
            else:
                sent = signal.SIGKILL if kind == "kill" else signal.SIGSTOP
                problem = disturbed(options, rng, sent)
            slowest = max(slowest, time.monotonic() - at)
            if problem:
                failures += 1
                print(f"{kind} {i}: {problem}", flush=True)
        if count:
            took = time.monotonic() - begun
            print(f"{kind}: {count} runs, {took:.0f} s, slowest {slowest:.1f} s",
                  file=sys.stderr, flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
