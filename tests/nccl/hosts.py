"""Transport nccl between hosts that are network namespaces (tests/bench/hosts), with two emulated
GPUs per host, over the fake NCCL's sockets.

    hosts.py FSDPC BUILD FOLDER MODEL

Two hosts give the bits of transport local, even over a link that delays and loses packets. If a
rank on the other host is killed, or a host is cut off, all ranks that can be reached end with code
4 and one message."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

fsdpc, build, folder, model = sys.argv[1:5]
folder = os.path.abspath(folder)
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUN = os.path.join(build, "emulated/run/fsdp-run")
RANKS, TIMEOUT, LIMIT = 4, 8, 400

loader = importlib.machinery.SourceFileLoader("hosts", str(ROOT / "tests/bench/hosts"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("hosts", loader))
loader.exec_module(bench)


def compile_plan(steps):
    path = os.path.join(folder, f"{steps}.bin")
    subprocess.run([fsdpc, "compile", "-q", model, "-o", path, "-n", str(RANKS), "-s",
                    f"train.steps={steps}"], check=True)
    return path


def words(plan, transport, log):
    return [RUN, "--device", "cuda", "--transport", transport, "--threads", "1", "--quiet", "--log",
            os.path.join(folder, log), plan]


def numbers(log):
    with open(os.path.join(folder, log), encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    return [(e["loss"], e.get("grad_norm")) for e in events if e["event"] in ("step", "eval")]


def start(plan, log):
    """Ranks 0 and 1 on host 1, 2 and 3 on host 2."""
    found = []
    for rank in range(RANKS):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(rank % 2),
                   LOCAL_WORLD_SIZE="2", MASTER_ADDR="10.213.77.1", MASTER_PORT="29555",
                   FSDP_TIMEOUT=str(TIMEOUT), FSDP_EMULATE_GPUS="2")
        host = f"{bench.NAME}{rank // 2 + 1}"
        inner = f'hostname {host}; exec "$@"'
        command = ["ip", "netns", "exec", host, "unshare", "--uts", "bash", "-c", inner, "-",
                   *words(plan, "nccl", log)]
        with open(os.path.join(folder, f"err.{rank}"), "w", encoding="utf-8") as err:
            found.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.DEVNULL, stderr=err))
    return found


def end(processes):
    codes, until = [], time.monotonic() + LIMIT
    for process in processes:
        try:
            codes.append(process.wait(max(0.1, until - time.monotonic())))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append("hung")
    text = ""
    for rank in range(RANKS):
        with open(os.path.join(folder, f"err.{rank}"), encoding="utf-8") as f:
            text += f.read()
    return codes, text.replace(bench.NAME, "host-").strip()


def whole(name, hosts, plan, wanted):
    codes, text = end(start(plan, "nccl.jsonl"))
    if any(codes):
        print(f"{name}: codes {codes}\n{text}")
        return
    got = numbers("nccl.jsonl")
    print(f"{name}: {'the same bits' if got == wanted else f'{got}, not {wanted}'}"
          f"{', packets were lost' if hosts.hub.lost else ''}")


def broken(name, do, expected):
    log = os.path.join(folder, f"{name}.jsonl")
    processes = start(compile_plan(100000), f"{name}.jsonl")
    for _ in range(LIMIT * 20):
        if os.path.exists(log) and os.path.getsize(log) > 1000:
            break
        time.sleep(0.05)
    do(processes)
    codes, text = end(processes)
    named = [line for line in text.splitlines() if re.match(r"error: .*rank [23] .*host-2", line)]
    good = codes in expected and named
    print(f"{name}: {'all ranks end, one is named' if good else f'codes {codes}: {text}'}")


plan = compile_plan(2)
done = subprocess.run([*words(plan, "local", "local.jsonl"), "-n", str(RANKS)], check=False)
if done.returncode:
    sys.exit("local failed")
bench.remove_stale()
for name, delay, loss in (("two hosts", 0, 0), ("a poor link", 0.001, 0.01)):
    hosts = bench.Hosts(2, pathlib.Path(folder), delay, loss)
    try:
        whole(name, hosts, plan, numbers("local.jsonl"))
        if name == "two hosts":
            broken("killed", lambda p: p[3].send_signal(signal.SIGKILL), [[4, 4, 4, -9]])
            broken("cut off", lambda p: hosts.cut_off(2), [[4] * 4])
    finally:
        hosts.remove()
