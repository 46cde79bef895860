"""power.py FSDPC FSDP_RUN RECORDER.SO PLAN WHOLE [TIMES [SEED]]: the power fails, at each call that
a run with checkpoints makes on files.

A run, and one that goes on from it, are recorded. Of each prefix of their calls every synced one
happened; of what was written to a file after its last sync, and of names made, changed or removed
in a folder after the folder's last sync: nothing, everything, or TIMES times any of it, in any
order, with writes torn at any sector, as POSIX allows.

What is then there: each checkpoint under its name is whole and has the bits of that step; none that
the run went on from is missing; and a run goes on, or starts where there was none yet, ends with
the bits of WHOLE, and leaves nothing beside its checkpoints.

Then the same with each kind of sync forgotten, which has to be noticed.
"""
import hashlib
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

import folder

FSDPC, RUN, SO, PLAN, WHOLE = sys.argv[1:6]
TIMES = int(sys.argv[6]) if len(sys.argv) > 6 else 1
SEED = int(sys.argv[7]) if len(sys.argv) > 7 else 1
CK, SECTOR = "saved.d", 512
RECORD = struct.Struct("<c3xiqqIII4x")


class File:
    def __init__(self, kind):
        self.kind = kind
        self.synced, self.later = bytearray(), []  # later: (where, bytes), or (length, None)

    @staticmethod
    def apply(content, at, data):
        if data is None:
            content += bytes(max(0, at - len(content)))
            del content[at:]
        else:
            content += bytes(max(0, at + len(data) - len(content)))
            content[at:at + len(data)] = data

    def sync(self):
        for change in self.later:
            self.apply(self.synced, *change)
        self.later = []

    def after(self, keeps):
        """What is found when the power is back; keeps() says of each sector whether it is there."""
        content = bytearray(self.synced)
        for at, data in self.later:
            if data is None:
                if keeps():
                    self.apply(content, at, None)
                continue
            for i in range(0, len(data), SECTOR):
                if keeps():
                    self.apply(content, at + i, data[i:i + SECTOR])
        return content


class Folder:
    def __init__(self, kind):
        self.kind = kind
        self.synced, self.now, self.later = {}, {}, []

    def change(self, removes, adds, what=None):
        self.later.append((removes, adds, what))
        self.apply(self.now, removes, adds, what)

    @staticmethod
    def apply(names, removes, adds, what):
        names.pop(removes, None)
        if adds:
            names[adds] = what

    def sync(self):
        self.synced, self.later = dict(self.now), []

    def after(self, keeps):
        names = dict(self.synced)
        for change in self.later:
            if keeps():
                self.apply(names, *change)
        return names


class Disk:
    """Folder `.`, and what lies in it."""

    def __init__(self, forgets=None):
        self.root, self.open, self.forgets = Folder("parent"), {}, forgets
        self.promised = self.committing = None  # step

    def find(self, path):
        """The folder that the name is in, the name, and what has it."""
        at, parts = self.root, os.path.normpath(path).split("/")
        if parts == ["."]:
            return None, "", self.root
        for part in parts[:-1]:
            at = at.now[part]
        return at, parts[-1], at.now.get(parts[-1])

    def call(self, op, fd, at, length, path, to, data):
        if op == "S":
            self.open = {}
        elif op == "o":
            if path.startswith("/"):
                return
            where, name, what = self.find(path)
            if what is None:
                what = File("manifest" if name.startswith("manifest") else "file")
                where.change(None, name, what)
            self.open[fd] = what
        elif op == "m":
            where, name, _ = self.find(path)
            where.change(None, name, Folder("step" if name.startswith("step") else "checkpoints"))
        elif op == "r":
            where, name, what = self.find(path)
            there, other, _ = self.find(to)
            assert where is there
            where.change(name, other, what)
        elif op in "ud":
            where, name, _ = self.find(path)
            where.change(name, None)
        elif fd in self.open:
            what = self.open[fd]
            if op == "c":
                del self.open[fd]
            elif op == "f":
                if what.kind != self.forgets:
                    what.sync()
            elif op == "w":
                what.later.append((at, data))
            elif op == "t" or (op == "a" and length > self.length(what)):
                what.later.append((length, None))
        self.promise(op, to)

    @staticmethod
    def length(what):
        return len(what.after(lambda: True))

    def promise(self, op, to):
        """A run that does something else after it named a checkpoint takes it for safe."""
        if self.committing is not None and op not in "ofc":
            self.promised, self.committing = self.committing, None
        named = re.fullmatch(CK + r"/step-(\d{8})", to) if op == "r" else None
        if named:
            self.committing = int(named[1])

    def write(self, path, what, keeps, seen):
        if isinstance(what, File):
            content = what.after(keeps)
            seen.update(b"file" + content)
            path.write_bytes(content)
            return
        path.mkdir(exist_ok=True)
        for name, inside in sorted(what.after(keeps).items()):
            seen.update(name.encode())
            self.write(path / name, inside, keeps, seen)
        seen.update(b"end")


def calls(raw):
    at = 0
    while at < len(raw):
        op, fd, where, length, n, m, size = RECORD.unpack_from(raw, at)
        at += RECORD.size
        parts = []
        for k in (n, m, size):
            parts.append(raw[at:at + k])
            at += k
        yield op.decode(), fd, where, length, parts[0].decode(), parts[1].decode(), parts[2]


def run(*arguments, **environment):
    command = [RUN, "-q", "--threads", "1", "--checkpoint-every", "1", *arguments, PLAN]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr


def clear(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)
        pathlib.Path(name).unlink(missing_ok=True)


def look(disk, golden, title):
    """Everything under a checkpoint's name is one."""
    steps = sorted(pathlib.Path(CK).glob("step-????????"))
    for step in steps:
        done = subprocess.run([FSDPC, "check", step], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (title, done.stderr)
        assert folder.tensors(step) == golden[step.name], (title, step)
    newest = int(steps[-1].name[5:]) if steps else -1
    assert disk.promised is None or newest >= disk.promised, (title, newest, disk.promised)


def back(disk, keeps, golden, known, title):
    """The power is back."""
    seen = hashlib.sha256()
    clear(CK)
    if CK in disk.root.now:
        disk.write(pathlib.Path("."), disk.root, keeps, seen)
    state = (disk.promised, seen.digest())
    if state in known:
        return
    known.add(state)
    look(disk, golden, title)
    if disk.forgets:
        return
    run("--resume-or-start", CK, "--save", "w")
    assert pathlib.Path("w").read_bytes() == pathlib.Path(WHOLE).read_bytes(), title
    names = os.listdir(CK)
    assert all(re.fullmatch(r"lock|step-\d{8}", name) for name in names), (title, names)


def tree(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in pathlib.Path(path).rglob("*")
            if p.is_file()}


def replay(calls_made, golden, forgets=None):
    disk, known, rng = Disk(forgets), set(), random.Random(SEED)
    for number, call in enumerate(calls_made):
        title = f"call {number}, {call[0]} {call[4]} {call[5]}"
        disk.call(*call)
        if call[0] in "oc":
            continue
        back(disk, lambda: False, golden, known, title + ": nothing")
        back(disk, lambda: True, golden, known, title + ": all")
        for _ in range(TIMES):
            chance = rng.random()
            back(disk, lambda chance=chance: rng.random() < chance, golden, known, title + ": some")
    assert disk.promised == 6 and len(known) > 100, (disk.promised, len(known))
    return disk


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
    run("--checkpoint", CK, "--steps", "3", **record)
    run("--resume-or-start", CK, **record)
    there = tree(CK)
    made = list(calls(pathlib.Path("record").read_bytes()))
    disk = replay(made, golden)
    clear(CK)
    disk.write(pathlib.Path("."), disk.root, lambda: True, hashlib.sha256())
    assert tree(CK) == there, "a call was not recorded"
    print("always whole")
    for kind in ("file", "manifest", "step", "checkpoints", "parent"):
        if not noticed(made, golden, kind):
            print("not noticed without:", kind)


main()
