#!/usr/bin/env python3
"""Row `nccl` of run: 2 and 4 processes through NCCL against the same plans through `local`.

Where the machine has a GPU for each rank, fsdp-run starts them itself. On one GPU each process says
that it is on a host of its own (NCCL_HOSTID), or NCCL refuses it as a duplicate; they then talk
over sockets, which is slow and tells nothing about speed.

What has to agree. The loss of step 0 comes before any sum of real numbers over ranks, and its own
sum is of integers: equal to the bit. Two ranks add two numbers, which has one result whatever the
order: all steps equal to the bit. Four ranks: a sum of four f32 in another order differs by up to
6 units of 2^-24 of the sum of the absolute terms, as sums differ between numbers of ranks; so the
bound is the one that run allows between those, RANKS_BOUND, relative, in loss. In bf16 with sums in
bf16 nothing is promised; the plans here reduce in f32.

    nccl.py FSDP-RUN PLAN RANKS STEPS    for tests: compares so many steps, then kills a rank
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import plans
import report

ONE_GPU = {
    "NCCL_SOCKET_IFNAME": "lo",
    "NCCL_IB_DISABLE": "1",
    "NCCL_NET": "Socket",
    "NCCL_MAX_CTAS": "2",
    "NCCL_RAS_ENABLE": "0",
    "NCCL_MNNVL_ENABLE": "0",
    "NCCL_ALGO": "Ring",
}
END_SECONDS = 40


class Wrong(Exception):
    def __init__(self, text, said=""):
        super().__init__(text)
        self.said = said  # all that the processes said


class Ranks:
    """Processes of one run, started by hand."""

    def __init__(self, program, plan, ranks, folder, work, env, gpus, args=()):
        command = [program, "--device", "cuda", "--transport", "nccl", *args]
        self.outputs = []
        self.processes = []
        if gpus >= ranks:
            self._start([*command, "-n", str(ranks), plan], folder, work, env)
            return
        first = env.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        port = 20000 + (os.getpid() * 7 + int(time.time() * 10)) % 20000
        for rank in range(ranks):
            own = {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank,
                   "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                   "NCCL_HOSTID": f"fsdp-{rank}", "CUDA_VISIBLE_DEVICES": first}
            own = {name: str(value) for name, value in own.items()}
            self._start([*command, plan], folder, work, {**env, **ONE_GPU, **own})

    def _start(self, command, folder, work, env):
        out = tempfile.TemporaryFile(dir=work)
        self.outputs.append(out)
        self.processes.append(subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            process_group=0))

    def wait(self, seconds):
        """Exit codes, and what all said."""
        end = time.time() + seconds
        try:
            codes = [p.wait(max(1, end - time.time())) for p in self.processes]
        except subprocess.TimeoutExpired:
            said = self.said()
            raise Wrong(f"no end within {seconds:.0f} s: {said[-300:]}", said) from None
        finally:
            self.end()
        return codes, self.said()

    def end(self):
        for p in self.processes:
            if p.poll() is None:
                report.end_group(p)

    def said(self):
        text = ""
        for out in self.outputs:
            out.seek(0)
            text += out.read().decode(errors="replace")
        return text


def steps_of(log):
    events = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
    return [(e["loss"], e["grad_norm"]) for e in events if e["event"] == "step"]


def train(program, plan, ranks, folder, work, env, gpus, args=(), seconds=150):
    log = work / "nccl.jsonl"
    log.unlink(missing_ok=True)
    run = Ranks(program, plan, ranks, folder, work, env, gpus, ["--log", log, *args])
    codes, said = run.wait(seconds)
    if any(codes):
        raise Wrong(f"{plan}: exit codes {codes}: {' '.join(said.split())[-400:]}", said)
    return steps_of(log), re.search(r"NCCL \d[^\n]*", said)


def compare(name, ranks, got, want, bound):
    """The largest relative difference in loss."""
    if len(got) != len(want) or not got:
        raise Wrong(f"{name}: {len(got)} steps, {len(want)} through local")
    if got[0][0] != want[0][0]:
        raise Wrong(f"{name}: step 0: loss {got[0][0]!r}, {want[0][0]!r} through local")
    worst = plans.largest(abs(a[0] - b[0]) / abs(b[0]) for a, b in zip(got, want, strict=True))
    if not worst <= (0 if ranks == 2 else bound):
        raise Wrong(f"{name}: losses differ by {worst:.3g} from those through local")
    return worst


def kill_a_rank(program, plan, ranks, folder, work, env, gpus, seconds=120):
    """All others end with code 4, and one message names the rank."""
    log = work / "killed.jsonl"
    log.unlink(missing_ok=True)
    run = Ranks(program, plan, ranks, folder, work, env, gpus, ["--log", log, "--quiet"])
    try:
        return kill_one(run, ranks, log, seconds)
    finally:
        run.end()


def kill_one(run, ranks, log, seconds):
    end = time.time() + seconds - END_SECONDS
    while not (log.exists() and '"step"' in log.read_text()):
        if any(p.poll() is not None for p in run.processes) or time.time() > end:
            said = run.said()
            raise Wrong(f"ended before the kill, or has no step: {said[-300:]}", said)
        time.sleep(0.02)
    victims = [p.pid for p in run.processes]
    if len(victims) == 1:  # the ranks are its children
        listed = pathlib.Path(f"/proc/{victims[0]}/task/{victims[0]}/children").read_text().split()
        victims = [int(x) for x in listed]
    os.kill(victims[ranks - 1], signal.SIGKILL)
    start = time.time()
    codes, said = run.wait(END_SECONDS)
    codes = [c for c in codes if c != -signal.SIGKILL]
    if any(c != 4 for c in codes):
        raise Wrong(f"a rank was killed, the others' exit codes are {codes}: {said[-300:]}", said)
    errors = re.findall(r"^error: .*", said, re.M)
    if len(errors) != 1 or f"rank {ranks - 1} " not in errors[0]:
        raise Wrong(f"a rank was killed, and {len(errors)} messages name it: {said[-400:]}", said)
    return time.time() - start


def main():
    program, plan, ranks, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    gpus = int(os.environ.get("FSDP_EMULATE_GPUS", "1"))
    with tempfile.TemporaryDirectory() as place:
        work = pathlib.Path(place)
        where = (pathlib.Path("."), work, dict(os.environ), gpus)
        log = work / "local.jsonl"
        short = ("--steps", steps)
        subprocess.run([program, "--device", "cuda", "--transport", "local", "--quiet", "--log",
                        log, *short, plan], check=True)
        got, about = train(program, plan, ranks, *where, args=short)
        print(f"largest difference {compare(plan, ranks, got, steps_of(log), 1e-6):.2g}")
        print(about.group() if about else "nothing said about NCCL")
        kill_a_rank(program, plan, ranks, *where)
        print("a killed rank ends all")


if __name__ == "__main__":
    try:
        main()
    except Wrong as reason:
        sys.exit(f"nccl.py: {reason}")
