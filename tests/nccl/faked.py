"""Runs a plan with transport nccl on emulated GPUs, one process per rank, over the fake NCCL.

    faked.py MODE FSDPC BUILD FOLDER MODEL RANKS [-s path=value]...

same: losses, gradient norms and saved weights have the bits of transport local on one emulated GPU,
in several orders of streams, with and without graphs, windows and registered buffers; and runs that
continue from the saved weights are equal, too. The fake adds in the order of ranks, in f32, and
rounds once, like local; a real NCCL chooses its own order.

planned: calls.py finds in the traces what the plan says, and notices each call that is removed from
a trace or swapped with its neighbour.

dropped, swapped: the program itself skips a collective, or issues it after the next one of its
communicator, on all ranks; calls.py must notice each.

waits: the device omits one of twelve waits of a stream for an event; calls.py must notice.
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
mode, fsdpc, build, folder, model, ranks, *options = sys.argv[1:]
RUN = os.path.join(build, "emulated/run/fsdp-run")
plan = os.path.join(folder, "plan.bin")


def run(transport, log=None, *words, **settings):
    gpus = ranks if transport == "nccl" else "1"
    env = dict(os.environ, FSDP_EMULATE_GPUS=gpus, **settings)
    words = [*words, *(["--log", os.path.join(folder, log)] if log else [])]
    return subprocess.run([RUN, "-n", ranks, "--device", "cuda", "--transport", transport,
                           "--threads", "1", "--quiet", *words, plan], env=env, check=False,
                          capture_output=True, text=True, timeout=2000)


def result(transport, *words, **settings):
    """What a run computed: numbers of all steps, bytes of the weights; or why it failed."""
    saved = os.path.join(folder, "saved.safetensors")
    done = run(transport, "log.jsonl", "--save", saved, *words, **settings)
    if done.returncode:
        return f"code {done.returncode}: {done.stderr.strip()}"
    with open(os.path.join(folder, "log.jsonl"), encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    numbers = [(e["loss"], e.get("grad_norm")) for e in events if e["event"] in ("step", "eval")]
    with open(saved, "rb") as f:
        return numbers, f.read()


def report(name, got, wanted):
    if got == wanted:
        print(f"{name}: the same bits")
    elif isinstance(got, str):
        print(f"{name}: {got}")
    else:
        print(f"{name}: {got[0]}, not {wanted[0]}"
              if got[0] != wanted[0] else f"{name}: other weights")


def same():
    wanted = result("local")
    if isinstance(wanted, str) or not wanted[0]:
        sys.exit(f"local: {wanted}")
    for name, settings in (("nccl", {}), ("another order", {"FSDP_EMULATE_SEED": "2"}),
                           ("no graphs", {"FSDP_CUDA_GRAPH": "0", "FSDP_EMULATE_SEED": "3"}),
                           ("no windows", {"FSDP_FAKE_WINDOWS": "0"}),
                           ("no registration", {"FSDP_FAKE_WINDOWS": "0",
                                                "FSDP_FAKE_REGISTER": "0"}),
                           ("all is late", {"FSDP_FAKE_LATE": "1"})):
        report(name, result("nccl", **settings), wanted)
    start = os.path.join(folder, "start.safetensors")
    with open(start, "wb") as f:
        f.write(wanted[1])
    report("from saved weights", result("nccl", "--load", start), result("local", "--load", start))


def traced(**settings):
    """The run, and what calls.py says of its traces."""
    traces = os.path.join(folder, "traces")
    shutil.rmtree(traces, ignore_errors=True)
    os.mkdir(traces)
    done = run("nccl", None, FSDP_FAKE_TRACE=traces, **settings)
    words = ["mutate"] if mode == "planned" else []
    said = subprocess.run([sys.executable, os.path.join(HERE, "calls.py"), fsdpc, plan, traces,
                           ranks, *words], check=False, capture_output=True, text=True)
    return done, said.stdout + said.stderr


def planned():
    done, said = traced()
    print(done.stderr, end="")
    print(said, end="")


def faults(name):
    """As many as are issued, directly or into a graph: one and a half rounds of programs."""
    done, said = traced()
    if done.returncode or said.startswith("differs"):
        sys.exit(done.stderr + said)
    with open(os.path.join(folder, "traces", os.listdir(os.path.join(folder, "traces"))[0]),
              encoding="utf-8") as f:
        calls = sum(line.startswith("K") for line in f)
    noticed = 0
    for k in range(calls):
        done, said = traced(**{name: str(k), "FSDP_TIMEOUT": "5"})
        if said.startswith("differs") and "when the run ends" not in said:
            noticed += 1
        elif name == "FSDP_FAKE_DROP" or k < calls - 1:
            print(f"call {k}: code {done.returncode} {done.stderr.strip()}, {said.strip()}")
    print(f"{noticed} of {calls} noticed")


def waits():
    noticed = 0
    for number in range(2, 38, 3):
        done, said = traced(FSDP_EMULATE_DROP_WAIT=str(number), FSDP_TIMEOUT="5")
        if said.startswith("differs") and "when the run ends" not in said:
            noticed += 1
        else:
            print(f"wait {number}: code {done.returncode} {done.stderr.strip()}, {said.strip()}")
    print(f"{noticed} of 12 noticed")


subprocess.run([fsdpc, "compile", "-q", model, "-o", plan, "-n", ranks, *options], check=True)
{"same": same, "planned": planned, "dropped": lambda: faults("FSDP_FAKE_DROP"),
 "swapped": lambda: faults("FSDP_FAKE_SWAP"), "waits": waits}[mode]()
