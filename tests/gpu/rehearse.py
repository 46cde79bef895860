"""Runs tests/gpu/run, bench or third as on a GPU machine, with an emulated GPU.

    rehearse.py BUILD FOLDER run|bench|third [FAULT] [WORD]...

Every row and part runs: programs of BUILD on the emulated CUDA runtime and the NCCL of tests/nccl
(build/emulated/run), plans of `pack --small`, a driver and a compute-sanitizer that only answer,
and, in place of PyTorch, a script that prints numbers of the right form (FSDP_GPU_PEER=... uses
another: `python tests/gpu/peer.py` with FSDP_PEER_DEVICE=cpu). The table is printed without its
head, which describes the machine, and without what differs from run to run; the words are those of
the command.

FAULT plants a mistake that the table must show: `kernel` (one wrong element), `wait` (a wait for an
event that the device forgets), `arena` (a program that takes 256 bytes more than predicted), `hang`
(a program that does not end), `crash` (one that dies).
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = "20"
FAULTS = ("kernel", "wait", "arena", "hang", "crash")
TOOLS = {
    "nvidia-smi": 'echo "emulated GPU, 580.0, 4096 MiB"',
    "compute-sanitizer": 'while [ "${1#--}" != "$1" ]; do shift 2; done; exec "$@"',
}
# In place of fsdp-run, $real: what the run logs is not what it did, it never ends, or it dies.
PLANTED = {
    "arena": '"$real" "$@" || exit; for log in "$@"; do case $log in *.jsonl)\n'
             "sed -i 's/\"arena_bytes\":/&256/' $log;; esac; done",
    "hang": "echo started >&2; sleep 1000",
    "crash": "kill -SEGV $$",
}


def script(path, text):
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def prepare(build, folder):
    """Programs, tools and the pack; what is there stays."""
    programs = folder / "programs"
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir(parents=True)
    for name in ("fsdp-run", "fsdpc", "device_cpu.so", "device_cuda.so", "libnccl.so.2",
                 "transport_nccl.so"):
        shutil.copy(build / "emulated/run" / name, programs)
    shutil.copy(build / "kernel_compare", programs)
    for name in ("watch.so", "attention"):
        shutil.copy(build / "gpu" / name, programs)
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, text in TOOLS.items():
        script(tools / name, text)
    if not (folder / "pack").exists():
        subprocess.run([HERE / "pack", "--small", "--plans-only", "--to", folder / "pack"],
                       env={**os.environ, "FSDP_BUILD": str(build)}, check=True,
                       stdout=subprocess.DEVNULL)
    return programs, tools


def plant(fault, build, programs, env):
    if fault == "kernel":
        (programs / "device_cuda.so").rename(programs / "device_real.so")
        shutil.copy(build / "tests/modules/gpu_wrong.so", programs / "device_cuda.so")
    elif fault == "wait":
        env["FSDP_EMULATE_DROP_WAIT"] = "9"
    elif fault:
        (programs / "fsdp-run").rename(programs / "fsdp-run.real")
        script(programs / "fsdp-run", f"real={programs}/fsdp-run.real\n{PLANTED[fault]}")


def steady(line):
    """Without times and figures that another run gives otherwise, or another model."""
    line = re.sub(r"NCCL \d[\d.]*", "NCCL", line)
    line = re.sub(r"^(\w+ +(?:held|skipped|FAILED) +)[\d.]+ s", r"\1N s", line)
    line = re.sub(r"\b\d+\.\d+(e-?\d+)?|\b\d+e-\d+|\b\d{4,}\b", "N", line)
    counted = "ops|runs|shapes|instructions|products|tokens/s|TFLOP/s|us"
    line = re.sub(rf"\b\d+ ({counted})\b", r"N \1", line)
    line = re.sub(r"(N launches|share of the allowed error N) (\+|\()\S*", r"\1", line)
    line = re.sub(r"\b0 from", "N from", line)
    line = re.sub(r"N( *)(ms|us|s|x|GiB|%|TFLOP/s|tokens/s)\b", r"N \2", line)
    return re.sub(r" +", " ", line).rstrip()


def without_heads(lines):
    """A head is what stands before the versions of libraries."""
    head, rows = True, []
    for line in lines:
        if line.startswith("== "):
            rows.append(line)
            head = True
        elif not head:
            rows.append(line)
        head = head and not line.startswith("versions:")
    return rows


def check_archive(out, lines):
    """Every part's table is in it, and nothing is left beside it."""
    assert not out.exists()
    with tarfile.open(out.with_name(out.name + ".tar.gz")) as tar:
        tables = [m for m in tar.getmembers() if m.name.endswith("/table.txt")]
        for table in tables:
            text = tar.extractfile(table).read().decode().splitlines()
            assert text[-1] in lines
    assert len(tables) == sum(line.startswith("== ") for line in lines)


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    what, *words = sys.argv[3:]
    fault = words.pop(0) if words and words[0] in FAULTS else None
    folder.mkdir(parents=True, exist_ok=True)
    programs, tools = prepare(build, folder)
    env = {"FSDP_EMULATE_CUDNN": "right", "OMP_NUM_THREADS": "1",
           "FSDP_GPU_PEER": f"{sys.executable} {HERE}/fake_peer.py",
           **os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    if "ASAN_OPTIONS" in env:  # watch.so is loaded in front of the sanitizer's runtime
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
    plant(fault, build, programs, env)
    out = folder / f"out-{what}"
    command = [HERE / what, "--programs", programs, "--pack", folder / "pack", "--out", out,
               "--patience", PATIENCE, *words]
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    said = [line for line in lines if str(out) not in line]
    rows = said if env.get("FSDP_GPU_VERBOSE") else [steady(x) for x in without_heads(said)]
    print("\n".join(rows))
    print(done.stderr, end="", file=sys.stderr)
    if what == "third":
        check_archive(out, lines)
    elif done.stdout:
        assert (out / "table.txt").read_text().splitlines() == lines
        json.loads((out / "report.json").read_text())
    sys.exit(done.returncode)


main()
