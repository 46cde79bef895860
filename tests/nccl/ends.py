"""Runs with transport nccl on emulated GPUs that do not end well: what all ranks do then.

    ends.py FSDPC BUILD FOLDER MODEL RANKS CASE...

Ranks are started by hand, as torchrun would (RANK, WORLD_SIZE, ...). Prints the exit code and the
output of each, without process numbers and the host's name. Every rank must end; one that has not
after LIMIT seconds hangs.

killed, stopped     rank 1 gets SIGKILL or SIGSTOP in the middle of a step; whether another rank
                    then waits in a collective, or for a decision, is random and not printed
awaited             rank 1 skips a collective, and is killed while the others wait in it
silent              rank 1 skips a collective, and NCCL hangs, as a real one may
plan                rank 1 has another plan
memory              rank 1's GPU is too small
gpus                two ranks, one GPU
interrupt           all get SIGINT, as from Ctrl-C
"""
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tcp"))
import ports

LIMIT, TIMEOUT = 400, 6
fsdpc, build, folder, model, ranks, *cases = sys.argv[1:]
ranks = int(ranks)
RUN = os.path.join(build, "emulated/run/fsdp-run")
HOST = socket.gethostname()
PORT, _KEPT = ports.hold()


def compile_plan(name, *options):
    path = os.path.join(folder, name)
    subprocess.run([fsdpc, "compile", "-q", model, "-o", path, "-n", str(ranks), *options],
                   check=True)
    return path


def start(words, of_rank, **common):
    """One process per rank; of_rank[r]: (plan, settings) where they are not those of all."""
    port, found = PORT, []
    for rank in range(ranks):
        path, settings = of_rank.get(rank, (plan, {}))
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank),
                   LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", FSDP_NCCL_PORT=str(port),
                   **{"FSDP_EMULATE_GPUS": str(ranks), "FSDP_TIMEOUT": str(TIMEOUT), **common,
                      **settings})
        log = open(os.path.join(folder, f"err.{rank}"), "w", encoding="utf-8")
        found.append(subprocess.Popen(
            [RUN, "--device", "cuda", "--transport", "nccl", "--threads", "1", "--quiet", *words,
             path], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log))
    return found


def wait_for_steps(log, n):
    """Until the run has made n steps."""
    for _ in range(LIMIT * 50):
        if os.path.exists(log):
            with open(log, encoding="utf-8") as f:
                if sum('"step"' in line for line in f) >= n:
                    return
        time.sleep(0.02)


def wait_for_collectives(pids, n):
    """Until each of them has issued n collectives."""
    for _ in range(LIMIT * 50):
        issued = []
        for pid in pids:
            path = os.path.join(folder, str(pid))
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    issued.append(sum(line.startswith("K") for line in f))
        if len(issued) == len(pids) and min(issued) >= n:
            return
        time.sleep(0.02)


def end(name, processes, stopped=None):
    begun, codes = time.monotonic(), []
    for rank, process in enumerate(processes):
        if rank == stopped:
            continue
        try:
            codes.append(process.wait(max(0.1, begun + LIMIT - time.monotonic())))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append("hung")
    if stopped is not None:
        processes[stopped].kill()
        processes[stopped].wait()
    text = ""
    for rank in range(ranks):
        with open(os.path.join(folder, f"err.{rank}"), encoding="utf-8") as f:
            text += f.read()
    text = text.replace(os.path.abspath(folder), "FOLDER").replace(f" on {HOST})", " on HOST)")
    text = re.sub(r"process \d+", "process PID", text)
    if name != "silent":  # where the others are is a matter of chance
        text = re.sub(r"rank \d+ waits in [^\n]*: \w+ #\d+, number \d+ of the [\w ]+ "
                      r"among these ranks", "rank R waits in PLACE: OP #N, number K", text)
    if name in ("killed", "stopped"):
        text = text.replace("; rank R waits in PLACE: OP #N, number K", "")
    text = re.sub(r"^error: rank \d+ (\(process PID on HOST\): NCCL)", r"error: rank R \1", text,
                  flags=re.M)
    text = re.sub(r"\b\d+ bytes \(", "N bytes (", re.sub(r"takes \d+", "takes N", re.sub(
        r"#\d+, number", "#N, number", text)))
    print(f"{name}: codes {' '.join(map(str, codes))}")
    print(re.sub(r"\b[0-9a-f]{16}\b", "HASH", text), end="")


def one(case):
    log = os.path.join(folder, f"{case}.jsonl")
    words = ["--log", log]
    if case == "plan":
        end(case, start([], {1: (compile_plan("other.bin", "-s", "train.steps=3"), {})}))
    elif case == "memory":
        end(case, start([], {1: (plan, {"FSDP_EMULATE_MEMORY": "30000000"})}))
    elif case == "gpus":
        end(case, start([], {}, FSDP_EMULATE_GPUS="1"))
    elif case == "awaited":
        processes = start([], {1: (plan, {"FSDP_FAKE_DROP": "6"})}, FSDP_FAKE_SILENT="1",
                          FSDP_TIMEOUT="60", FSDP_FAKE_TRACE=folder)
        wait_for_collectives([p.pid for p in processes if p is not processes[1]], 7)
        time.sleep(1)
        processes[1].kill()
        end(case, processes)
    elif case == "silent":
        end(case, start([], {1: (plan, {"FSDP_FAKE_DROP": "6"})}, FSDP_FAKE_SILENT="1"))
    else:
        processes = start(words, {})
        wait_for_steps(log, 3)
        signals = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP,
                   "interrupt": signal.SIGINT}
        for process in processes if case == "interrupt" else processes[1:2]:
            process.send_signal(signals[case])
        end(case, processes, 1 if case == "stopped" else None)


plan = compile_plan("plan.bin", "-s", "train.steps=100000", "-s", "train.eval_every=100")
for c in cases:
    one(c)
