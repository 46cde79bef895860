"""Simulates the calls that plans of pipelines list, as if backward took twice as long as forward
and sending no time: a step takes M v + pp - 1 turns of a forward and a backward, pp - 1 idle on
each rank. Compares that with what `dump` and `compile` say, and each column of dump's picture with
the simulation. Prints a line for each plan, then what differs.

    turns.py FSDPC MODEL
"""
import os
import re
import subprocess
import sys
import tempfile

CASES = [
    ([], (2, 3, 4, 8), (1, 2, 4, 8, 16)),
    (["shard.pipeline=gpipe"], (2, 3, 4), (1, 2, 4, 8, 16)),
    (["shard.pipeline=interleaved"], (2, 4), (4, 8, 16)),
]
CALL = re.compile(r"call role (\d+) step (?!update)\w+ times 1 stage (\d+) (\w+) micro-batch (\d+)")


def simulate(calls):
    """calls: by role, (stage, part, micro-batch). By role the time when it is done, and by stage
    what begins when."""
    begun, ended, free, left = {}, {}, [0] * len(calls), [list(own) for own in calls]
    while any(left):
        before = len(ended)
        for role, own in enumerate(left):
            while own:
                stage, part, micro = own[0]
                need = ("B", stage + 1, micro) if part == "backward" else ("F", stage - 1, micro)
                if need[1] >= 0 and need not in ended:
                    break
                at = max(free[role], ended.get(need, 0))
                for kind, length in ("F", 1), ("B", 2):
                    if part == "whole" or (part == "backward") == (kind == "B"):
                        begun[kind, stage, micro] = at
                        at = ended[kind, stage, micro] = at + length
                free[role] = at
                own.pop(0)
        if len(ended) == before:
            sys.exit("the calls wait for each other")
    return max(free), begun


def picture_of(text):
    """What the picture says begins when."""
    found, first = {}, len("  stage 0000  ")
    cell = max(len(c) for c in re.findall(r"F\d+", text)) + 1
    for stage, line in re.findall(r"^(?=  stage (\d+))(.*)$", text, re.M):
        for at in re.finditer(r"([FB])(\d+)", line[first:]):
            found[at[1], int(stage), int(at[2])] = at.start() // cell
    return found


def main():
    fsdpc, model = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "p")
        for settings, meshes, micros in CASES:
            chunks = 2 if "shard.pipeline=interleaved" in settings else 1
            for pp, micro in ((pp, micro) for pp in meshes for micro in micros):
                check(fsdpc, model, plan, settings, pp, micro, chunks)


def check(fsdpc, model, plan, settings, pp, micro, chunks):
    more = ["shard.stages=%d" % (pp * chunks), "train.accumulate=%d" % micro, "train.batch=16"]
    command = [fsdpc, "compile", model, "-o", plan, "--mesh", "pp=%d" % pp]
    for setting in settings + more:
        command += ["-s", setting]
    told = subprocess.run(command, capture_output=True, text=True)
    if told.returncode:
        sys.exit(told.stderr)
    raw, view = (subprocess.run([fsdpc, "dump", option, plan], capture_output=True, text=True,
                                check=True).stdout for option in ("--raw", "--all"))
    calls = [[] for _ in range(pp)]
    for role, stage, part, number in CALL.findall(raw):
        calls[int(role)].append((int(stage), part, int(number)))
    time, begun = simulate(calls)
    turns = micro * chunks + pp - 1
    idle = time - 3 * micro * chunks
    picture = view[view.index("calls of a step"):view.index("\nprogram ")]
    print("pp=%d M=%d v=%d: %g turns, %g idle" % (pp, micro, chunks, time / 3, idle / 3))
    if (time, idle) != (3 * turns, 3 * (pp - 1)):
        print("  wanted %d turns" % turns)
    if "idle for %d of %d columns" % (idle, time) not in picture:
        print("  dump:", picture.splitlines()[1])
    if "idle for %d of %d turns" % (pp - 1, turns) not in told.stdout + told.stderr:
        print("  compile:", [line for line in told.stdout.splitlines() if "turns" in line])
    if picture_of(picture) != begun:
        print("  the picture differs:\n" + picture)


main()
