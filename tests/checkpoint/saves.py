"""saves.py FSDP_RUN RECORDER.SO PLAN OLD NEW [TIMES [SEED]]: the power fails at each call on files
that --save makes when it replaces the weights OLD by NEW, as one file, as folders with one file
and with several (disk.py determines what is left).

Afterwards the target must load as OLD or as NEW, with a config.json to match, or be rejected, and
as NEW once the run has ended.
Then the same with each kind of sync omitted, which must be noticed.
"""
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys

import disk

RUN, SO, PLAN, OLD, NEW = sys.argv[1:6]
TIMES = int(sys.argv[6]) if len(sys.argv) > 6 else 1
SEED = int(sys.argv[7]) if len(sys.argv) > 7 else 1
FORMS = {"file": [], "one": [], "parts": ["--max-file", "2KB"]}
TARGET = pathlib.Path("target")


def run(*arguments, **environment):
    command = [RUN, "-q", "--threads", "1", "--steps", "0", *arguments, PLAN]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          text=True, check=False).returncode


def clear():
    for path in pathlib.Path(".").glob("target*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def what():
    """The weights that the target loads as."""
    if run("--load", "target", "--save", "back"):
        return "refused"
    bytes_ = pathlib.Path("back").read_bytes()
    found = [name for name in (OLD, NEW) if bytes_ == pathlib.Path(name).read_bytes()]
    config = TARGET / "config.json"
    marked = OLD if TARGET.is_dir() and "_name_or_path" in config.read_text() else NEW
    return found[0] if found and (TARGET.is_file() or found[0] == marked) else "mixed"


def back(past, keeps, known):
    seen = hashlib.sha256()
    clear()
    past.write(pathlib.Path("."), past.root, keeps, seen)
    if seen.digest() not in known:
        known[seen.digest()] = what()
    return known[seen.digest()]


def replay(before, after, forgets=None):
    """What the target was found to be."""
    clear()
    past, rng, known = disk.Disk(forgets), random.Random(SEED), {}
    to = "target" if after == "file" else "target/"
    if before:
        assert run("--load", OLD, "--save", to, *FORMS[before]) == 0
        if before != "file":  # makes its config.json one that new weights do not have
            config = TARGET / "config.json"
            config.write_text(config.read_text().replace("{", '{"_name_or_path": "old",', 1))
        past.load(TARGET)
    pathlib.Path("record").unlink(missing_ok=True)
    assert run("--load", NEW, "--save", to, *FORMS[after], LD_PRELOAD=SO, RECORD="record",
               RECORD_IN="target") == 0
    last = None
    for call in disk.calls(pathlib.Path("record").read_bytes()):
        past.call(*call)
        if call[0] in "oc":
            continue
        back(past, lambda: True, known)
        for _ in range(TIMES):
            chance = rng.random()
            back(past, lambda chance=chance: rng.random() < chance, known)
        last = back(past, lambda: False, known)
    assert back(past, lambda: True, known) == last == NEW, (before, after, last)
    seen = set(known.values())
    assert "mixed" not in seen, (before, after)
    return seen


def noticed(kind):
    for pair in PAIRS:
        try:
            replay(*pair, kind)
        except AssertionError:
            return True
    return False


PAIRS = ((None, "file"), ("file", "file"), (None, "parts"), ("one", "one"), ("one", "parts"),
         ("parts", "parts"), ("parts", "one"))
for first, then in PAIRS:
    print(f"{first or 'nothing'} to {then}:", ", ".join(sorted(replay(first, then))))
for sync in ("file", "folder", "parent"):
    if not noticed(sync):
        print("not noticed without:", sync)
