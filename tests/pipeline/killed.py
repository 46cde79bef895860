"""Kills or stops a random rank of a pipeline of 4 ranks (2 stages of 2, or 4 of one) at a random
moment of its training: all ranks must end with code 4, in time, with one message, which names that
rank, its stage and its micro-batch, however many others wait for it.

    killed.py FSDPC FSDP_RUN --runs N [--seed N] [--with 'OPTIONS']

A rank that is killed is noticed at once, one that is stopped after FSDP_TIMEOUT; then there are 5
seconds until all have ended.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from same_bits import MODEL

TIMEOUT, REST, RANKS, MICRO = 3, 5, 4, 4
PLANS = [("pp=2,dp=2", 2, 2, []), ("pp=4", 4, 4, []),
         ("pp=2,dp=2", 2, 4, ["shard.pipeline=interleaved", "shard.stages=4"])]


def ranks_of(mark, launcher):
    """Processes that are ranks: fsdp-run with the mark, without the one that started them."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes() \
                    and (entry / "comm").read_text() == "fsdp-run\n":
                found.append(int(entry.name))
        except OSError:
            continue
    return sorted(pid for pid in found if pid != launcher)


def wait_for_step(process, log):
    while process.poll() is None:
        if log.exists() and '"event":"step"' in log.read_text().replace(" ", ""):
            return True
        time.sleep(0.01)
    return False


def problem(error, pid, roles, stages):
    """What is wrong with the message, or None."""
    found = re.search(r"rank (\d+) \(process (\d+) on [^)]*\)(?:, rank \d+)* .*; it was in "
                      r"stage (\d+), (micro-batch (\d+)|update|evaluation)", error)
    if error.count("error:") != 1 or not found:
        return "wanted one message about a rank in a stage"
    rank, named, stage = (int(found[k]) for k in (1, 2, 3))
    if named != pid:
        return "wanted process %d" % pid
    if stage >= stages or stage % roles != rank * roles // RANKS:
        return "rank %d is not in stage %d" % (rank, stage)
    if found[5] and int(found[5]) >= MICRO:
        return "there are %d micro-batches" % MICRO
    return None


def disturb(fsdp_run, folder, plan, roles, stages, sent, moment, rng, options):
    mark, log = str(uuid.uuid4()), folder / "log"
    log.unlink(missing_ok=True)
    env = dict(os.environ, FSDP_TIMEOUT=str(TIMEOUT), FSDP_TEST_MARK=mark)
    command = [fsdp_run, *options, "--threads", "1", "-q", "--steps", "1000000", "--log",
               str(log), str(plan)]
    process = subprocess.Popen(command, env=env, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        if not wait_for_step(process, log):
            return "no step: " + process.communicate()[1], 0
        time.sleep(moment)
        pid = rng.choice(ranks_of(mark.encode(), process.pid))
        begun = time.monotonic()
        os.kill(pid, sent)
        error = process.communicate(timeout=TIMEOUT + 20)[1]
        took = time.monotonic() - begun - (TIMEOUT if sent == signal.SIGSTOP else 0)
        while (left := ranks_of(mark.encode(), process.pid)) and \
                time.monotonic() - begun < TIMEOUT + REST:
            time.sleep(0.02)
        wrong = problem(error, pid, roles, stages)
        if process.returncode != 4:
            wrong = "exit code %d" % process.returncode
        if left:
            wrong = "ranks are left: %s" % left
        if took > REST:
            wrong = "%.1f s after it was noticed" % took
        return wrong and "%s: %s" % (wrong, error), took
    except subprocess.TimeoutExpired:
        return "it hangs: %s" % ranks_of(mark.encode(), process.pid), 0
    finally:
        for pid in ranks_of(mark.encode(), process.pid):
            os.kill(pid, signal.SIGKILL)
        process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fsdpc")
    parser.add_argument("fsdp_run")
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--with", dest="options", default="--transport mpi")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    failures, slowest = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "m.fsd").write_text(MODEL)
        for k, (mesh, _, _, settings) in enumerate(PLANS):
            command = [options.fsdpc, "compile", "-q", "--mesh", mesh, "-o",
                       str(folder / ("plan%d" % k)), str(folder / "m.fsd"),
                       "-s", "train.accumulate=%d" % MICRO, "-s", "train.steps=1000000"]
            for setting in settings:
                command += ["-s", setting]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        for run in range(options.runs):
            k = rng.randrange(len(PLANS))
            sent = (signal.SIGKILL, signal.SIGSTOP)[run % 2]
            found, took = disturb(options.fsdp_run, folder, folder / ("plan%d" % k), PLANS[k][1],
                                  PLANS[k][2], sent, rng.uniform(0, 0.7), rng,
                                  options.options.split())
            slowest = max(slowest, took)
            if found:
                failures += 1
                print("run %d, %s, %s: %s" % (run, PLANS[k][0], sent.name, found), flush=True)
    print("%d of %d runs as they should be" % (options.runs - failures, options.runs))
    print("slowest %.1f s" % slowest, file=sys.stderr)


main()
