"""crash.py FSDP_RUN CRASH.SO PLAN OLD NEW: saves weights NEW over an earlier save of OLD, and is
stopped at each call that changes files, one after the other: first by SIGKILL, then by a full
disk.

Afterwards the target must load as OLD or as NEW, with a config.json to match, or be rejected; if
the call failed and the run went on, NEW must exist, in the target or where the message says, and
beside it OLD as it was. Old and new weights are saved as one file, as folders with one file, with
config.json changed or the same, and as folders with several.
"""
import errno
import os
import pathlib
import re
import shutil
import subprocess
import sys

RUN, SO, PLAN, OLD, NEW = sys.argv[1:]
FORMS = {"file": [], "one": [], "same": [], "parts": ["--max-file", "2KB"]}
MARKED = "one", "parts"  # old weights that have another config.json than the new ones


def run(*arguments, **environment):
    command = [RUN, "-q", "--threads", "1", "--steps", "0", *arguments, PLAN]
    environment = {**os.environ, **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def clear(*paths):
    for path in paths:
        shutil.rmtree(path) if os.path.isdir(path) else pathlib.Path(path).unlink(missing_ok=True)


def mark(folder):
    """Changes config.json."""
    config = pathlib.Path(folder, "config.json")
    config.write_text(config.read_text().replace("{", '{"_name_or_path": "old",', 1))


def what(path, marks):
    """old, new, or refused: as it loads."""
    if run("--load", path, "--save", "back").returncode:
        return "refused"
    bytes_ = pathlib.Path("back").read_bytes()
    found = [name for name in (OLD, NEW) if bytes_ == pathlib.Path(name).read_bytes()]
    config = pathlib.Path(path, "config.json")
    if found and marks and ("_name_or_path" in config.read_text()) != (found[0] == OLD):
        return "mixed"
    return found[0] if found else "mixed"


def save(before, after, at, number):
    """The result of one save that is stopped at a call; None when there are fewer calls."""
    clear(*pathlib.Path(".").glob("target*"), *pathlib.Path(".").glob("*kept*"))
    target = "target" if after == "file" else "target/"
    if before:
        assert run("--load", OLD, "--save", target, *FORMS[before]).returncode == 0
        if before in MARKED:
            mark(target)
    pathlib.Path("count").write_text("")
    how = {"CRASH_ERRNO": str(number)} if number else {}
    done = run("--load", NEW, "--save", target, *FORMS[after], LD_PRELOAD=SO, CRASH_IN="target",
               CRASH_AT=str(at), CRASH_COUNT="count", **how)
    if len(pathlib.Path("count").read_text().splitlines()) < at:
        return None
    state = what("target", before in MARKED)
    if not number:
        return "killed", state
    kept = re.search(r"kept as ([^\s,]+)", done.stderr)
    if done.returncode and kept:
        assert state == (OLD if before else "refused"), (before, after, at, state)
        return "kept", what(kept[1], before in MARKED)
    return ("failed" if done.returncode else "done"), state


for before, after in ((None, "file"), ("file", "file"), (None, "parts"), ("one", "one"),
                      ("same", "one"), ("one", "parts"), ("parts", "parts"), ("parts", "one")):
    for number in (0, errno.ENOSPC):
        seen, at = set(), 1
        while result := save(before, after, at, number):
            seen.add(" ".join(result))
            at += 1
        assert at > 5
        title = f"{before or 'nothing'} to {after}, {'disk full' if number else 'killed'}:"
        print(title, ", ".join(sorted(seen)))
