"""power.py FSDPC FSDP_RUN RECORDER.SO PLAN WHOLE [TIMES [SEED]]: the power fails at each call that
a run with checkpoints makes on files.

A run, and one that resumes from it, are recorded. For each prefix of their calls, every synced call
took effect; of the writes to a file after its last sync, and of the names created, changed or
removed in a folder after the folder's last sync, none did, or all, or TIMES times a random
selection, in any order, with writes torn at any sector, as POSIX allows.

Then each checkpoint under its final name must be complete and have the bits of that step; none from
which the run resumed may be missing; and a run that resumes, or starts anew if there was none yet,
must end with the bits of WHOLE and leave nothing else next to its checkpoints.

Then the same with each kind of sync omitted, which must be noticed.
"""
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import disk
import folder

FSDPC, RUN, SO, PLAN, WHOLE = sys.argv[1:6]
TIMES = int(sys.argv[6]) if len(sys.argv) > 6 else 1
SEED = int(sys.argv[7]) if len(sys.argv) > 7 else 1
CK = "saved.d"


class Run(disk.Disk):
    """... and what its run takes for safe."""

    def __init__(self, forgets):
        super().__init__(forgets)
        self.promised = self.committing = None  # step

    def call(self, op, fd, at, length, path, to, data):
        super().call(op, fd, at, length, path, to, data)
        self.promise(op, to)

    def promise(self, op, to):
        """A run that does something else after it named a checkpoint takes it for safe."""
        if self.committing is not None and op not in "ofc":
            self.promised, self.committing = self.committing, None
        named = re.fullmatch(CK + r"/step-(\d{8})", to) if op == "r" else None
        if named:
            self.committing = int(named[1])


def run(*arguments, **environment):
    command = [RUN, "-q", "--threads", "1", "--checkpoint-every", "2", *arguments, PLAN]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr


def clear(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)
        pathlib.Path(name).unlink(missing_ok=True)


def look(past, golden, title):
    """Everything under a checkpoint's name is one."""
    steps = sorted(pathlib.Path(CK).glob("step-????????"))
    for step in steps:
        done = subprocess.run([FSDPC, "check", step], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (title, done.stderr)
        assert folder.tensors(step) == golden[step.name], (title, step)
    newest = int(steps[-1].name[5:]) if steps else -1
    assert past.promised is None or newest >= past.promised, (title, newest, past.promised)


def back(past, keeps, golden, known, title):
    """The power is back."""
    seen = hashlib.sha256()
    clear(CK)
    if CK in past.root.now:
        past.write(pathlib.Path("."), past.root, keeps, seen)
    state = (past.promised, seen.digest())
    if state in known:
        return
    known.add(state)
    look(past, golden, title)
    if past.forgets:
        return
    run("--resume-or-start", CK, "--save", "w")
    assert pathlib.Path("w").read_bytes() == pathlib.Path(WHOLE).read_bytes(), title
    names = os.listdir(CK)
    assert all(re.fullmatch(r"lock|step-\d{8}", name) for name in names), (title, names)


def tree(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in pathlib.Path(path).rglob("*")
            if p.is_file()}


def replay(calls_made, golden, forgets=None):
    past, known, rng = Run(forgets), set(), random.Random(SEED)
    for number, call in enumerate(calls_made):
        title = f"call {number}, {call[0]} {call[4]} {call[5]}"
        past.call(*call)
        if call[0] in "oc":
            continue
        back(past, lambda: False, golden, known, title + ": nothing")
        back(past, lambda: True, golden, known, title + ": all")
        for _ in range(TIMES):
            chance = rng.random()
            back(past, lambda chance=chance: rng.random() < chance, golden, known, title + ": some")
    assert past.promised == 6 and len(known) > 60, (past.promised, len(known))
    return past


def noticed(*arguments):
    try:
        replay(*arguments)
    except AssertionError:
        return True
    return False


def main():
    clear(CK, "record", "golden")
    run("--checkpoint", "golden", "--keep", "0")
    golden = {p.name: folder.tensors(p) for p in pathlib.Path("golden").glob("step-*")}
    record = {"LD_PRELOAD": SO, "RECORD": "record", "RECORD_IN": CK}
    run("--checkpoint", CK, "--steps", "4", **record)
    run("--resume-or-start", CK, **record)
    there = tree(CK)
    made = list(disk.calls(pathlib.Path("record").read_bytes()))
    past = replay(made, golden)
    clear(CK)
    past.write(pathlib.Path("."), past.root, lambda: True, hashlib.sha256())
    assert tree(CK) == there, "a call was not recorded"
    print("always whole")
    for kind in ("file", "manifest", "step", "folder", "parent"):
        if not noticed(made, golden, kind):
            print("not noticed without:", kind)


main()
