"""A rank that the kernel kills because memory ran out: of a run with two processes, one is moved
into a memory control group, in which another process then allocates more than the limit.

    out_of_memory.py BUILD FOLDER

Prints the exit code and the output of the run, without process numbers and hosts. Needs permission
to create a control group; without arguments the exit code tells whether there is one.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import uuid

import ends

LIMIT = 32 << 20
EATER = "import sys\nprint('ready', flush=True)\nsys.stdin.readline()\nx = bytearray(1 << 28)\n"


def group_root():
    """(folder in which groups are made, name of the limit's file), or None."""
    for folder, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                          ("/sys/fs/cgroup", "memory.max")):
        try:
            group = pathlib.Path(folder) / f"fsdp{os.getpid()}"
            group.mkdir()
            there = (group / limit).exists()
            group.rmdir()
            if there:
                return pathlib.Path(folder), limit
        except OSError:
            continue
    return None


def remove(group):
    for _ in range(100):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.05)


def run_out(build, folder, group):
    mark = str(uuid.uuid4())
    env = dict(os.environ, FSDP_TEST_MARK=mark, FSDP_TIMEOUT="20")
    run = subprocess.Popen([build / "fsdp-run", "--transport", "mpi", "--threads", "1", "--quiet",
                            "--log", "log", "plan"], cwd=folder, env=env, text=True,
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    log = folder / "log"
    while not (log.exists() and log.read_text().count('"step"') > 5):
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.05)
    rank = [pid for pid, name in ends.processes_with(mark) if name == "fsdp-run" and
            b"OMPI_COMM_WORLD_RANK=1" in pathlib.Path(f"/proc/{pid}/environ").read_bytes()][0]
    eater = subprocess.Popen([sys.executable, "-c", EATER], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    eater.stdout.readline()
    try:
        pathlib.Path(f"/proc/{rank}/oom_score_adj").write_text("1000")
        for pid in (rank, eater.pid):
            (group / "cgroup.procs").write_text(str(pid))
        eater.stdin.write("\n")
        eater.stdin.flush()
        _, err = run.communicate(timeout=1000)
    finally:
        eater.kill()
        eater.wait()
        for pid, _ in ends.processes_with(mark):
            os.kill(pid, signal.SIGKILL)
    counts = [group / name for name in ("memory.oom_control", "memory.events")]
    killed = "".join(c.read_text() for c in counts if c.exists())
    assert re.search(r"oom_kill [1-9]", killed), killed
    err = re.sub(r"process \d+ on [^)]*", "process N on HOST", err)
    print(run.returncode)
    print(re.sub(r" rank \d waited for it in .*", " ...", err), end="")


def main():
    if len(sys.argv) == 1:
        sys.exit(0 if group_root() else 1)
    build, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    (folder / "m.fsd").write_text(ends.MODEL)
    (folder / "t.txt").write_text("".join(f"{i}\n" for i in range(3000)))
    subprocess.run([build / "fsdpc", "compile", "-q", "m.fsd", "-o", "plan", "-n", "2"],
                   cwd=folder, check=True)
    root, limit = group_root()
    group = root / f"fsdp{os.getpid()}"
    group.mkdir()
    try:
        (group / limit).write_text(str(LIMIT))
        run_out(build, folder, group)
    finally:
        remove(group)


if __name__ == "__main__":
    main()
