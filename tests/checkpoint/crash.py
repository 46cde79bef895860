"""crash.py FSDP_RUN CRASH.SO PLAN WHOLE.LOG WHOLE killed|full|broken|interrupted|short [STRIDE]: a
run that writes checkpoints is interrupted at each call that changes files, one after the other
(or at each STRIDE-th): by SIGKILL, or the call fails with ENOSPC, EIO (and all later calls),
EINTR, or a write is cut short.

Afterwards the newest checkpoint under its final name must be complete; the run resumes from it, or
starts anew if there is none, and must end with the same bits as an undisturbed run; and nothing
else may be left next to the checkpoints.
"""
import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

RUN, SO, PLAN, WHOLE_LOG, WHOLE, HOW = sys.argv[1:7]
STRIDE = int(sys.argv[7]) if len(sys.argv) > 7 else 1
FAULT = {"killed": {}, "full": {"CRASH_ERRNO": errno.ENOSPC},
         "broken": {"CRASH_ERRNO": errno.EIO, "CRASH_AGAIN": 1},
         "interrupted": {"CRASH_ERRNO": errno.EINTR}, "short": {"CRASH_SHORT": 1}}[HOW]


def run(*arguments, **environment):
    command = [RUN, "-q", "--threads", "1", "--resume-or-start", "ck", "--checkpoint-every", "2",
               "--log", "log", *arguments, PLAN]
    environment = {**os.environ, **{k: str(v) for k, v in environment.items()}}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def told(log):
    lines = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    return [(e["event"], e["step"], e["loss"]) for e in lines if e["event"] in ("step", "eval")]


def stopped_at(at):
    """The exit code of a run that is stopped at that call; None when it has fewer."""
    shutil.rmtree("ck", ignore_errors=True)
    pathlib.Path("log").unlink(missing_ok=True)
    pathlib.Path("count").write_text("")
    done = run(LD_PRELOAD=SO, CRASH_IN="ck/", CRASH_AT=at, CRASH_COUNT="count", **FAULT)
    # Of two ranks one may be about to count an earlier call when the other one's ends both.
    if done.returncode == -9 or len(pathlib.Path("count").read_text().splitlines()) >= at:
        return done
    assert done.returncode == 0, (at, done.returncode, done.stderr)
    return None


seen, at = {}, 1
while (done := stopped_at(at)) is not None:
    again = run("--save", "w")
    assert again.returncode == 0, (at, done.stderr, again.stderr)
    assert told("log") == told(WHOLE_LOG), at
    assert pathlib.Path("w").read_bytes() == pathlib.Path(WHOLE).read_bytes(), at
    names = os.listdir("ck")
    assert all(re.fullmatch(r"lock|step-\d{8}", name) for name in names), (at, names)
    code = "killed" if done.returncode == -9 else f"exit {done.returncode}"
    assert HOW != "short" or (done.returncode == 0 and not done.stderr), (at, done.stderr)
    seen[code] = seen.get(code, 0) + 1
    at += STRIDE
assert at // STRIDE > 6
print(f"{HOW}:", ", ".join(sorted(seen)))
