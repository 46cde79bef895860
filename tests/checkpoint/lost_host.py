"""lost_host.py BUILD: a run on two hosts, network namespaces of this machine, started by `fsdp-run
--hosts --restarts`. The second host is cut off, a rank is killed, the host comes back, and a
rank is killed again.

The first two times all ranks move to the first host and resume from the newest checkpoint; after
the third failure both hosts have ranks again. The run must end with the same bits as an undisturbed
one.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("hosts", str(ROOT / "tests" / "bench" / "hosts"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("hosts", LOADER))
LOADER.exec_module(bench)
STEPS = 250
AGENT = bench.AGENT.replace("shift\n", "shift\n[ -e FOLDER/lost$n ] && exit 255 # as ssh does\n")


def compile_plan(folder):
    (folder / "m.fsd").write_text(bench.MODEL)
    (folder / "t.txt").write_text("".join(f"{i}\n" for i in range(3000)))
    subprocess.run([BUILD / "fsdpc", "compile", "-q", "m.fsd", "-o", "p", "-n", "4", "-s",
                    f"train.steps={STEPS}"], cwd=folder, check=True)
    subprocess.run([BUILD / "fsdp-run", "-q", "--threads", "1", "--log", "whole.log", "--save",
                    "whole", "p"], cwd=folder, check=True)


def start(folder):
    (folder / "errors").touch()
    (folder / "agent").write_text(AGENT.replace("NAME", bench.NAME).replace("FOLDER", str(folder)))
    environment = {"OMPI_MCA_plm_rsh_agent": folder / "agent", "FSDP_TIMEOUT": 15,
                   "OMPI_MCA_btl_tcp_if_include": "eth0", "OMPI_MCA_oob_tcp_if_include": "eth0"}
    run = (f"{BUILD}/fsdp-run -q --threads 1 --hosts 10.213.77.1:2,10.213.77.2:2 --restarts 9 "
           "--checkpoint ck --checkpoint-every 10 --log log --save w p 2> errors")
    command = ["ip", "netns", "exec", f"{bench.NAME}1", "unshare", "--uts", "bash", "-c",
               f"hostname {bench.NAME}1; exec {run}"]
    environment = {**os.environ, **{k: str(v) for k, v in environment.items()}}
    return subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL)


def ranks_on(host):
    """Process ids of the ranks there, by their variable."""
    found = []
    for pid in bench.sh(f"ip netns pids {bench.NAME}{host}").stdout.split():
        try:
            words = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if b"OMPI_COMM_WORLD_RANK=" in words and name == "fsdp-run":
            found.append(int(pid))
    return found


def events(log):
    lines = log.read_text().splitlines(keepends=True) if log.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def told(log):
    return [(e["step"], e["loss"]) for e in events(log) if e["event"] == "step"]


def wait_for_checkpoint(run, folder, since):
    """Until the run, which went on after that moment (0: began), has made a checkpoint."""
    limit = time.monotonic() + 1000
    while True:
        at = [e["time"] for e in events(folder / "log")
              if e["event"] in ("start", "resume") and e["time"] > since]
        if at and any(e["event"] == "checkpoint" and e["time"] > at[-1]
                      for e in events(folder / "log")):
            return
        ended = run.poll()  # what it wrote before is there
        errors = (folder / "errors").read_text()
        assert ended is None, f"it ended with {ended}: {errors}"
        assert time.monotonic() < limit, f"nothing goes on: {errors}"
        time.sleep(0.05)


def kill_one(run, folder):
    now = time.time()
    os.kill(ranks_on(1)[0], signal.SIGKILL)
    wait_for_checkpoint(run, folder, now)


def trial(network, folder):
    run = start(folder)
    wait_for_checkpoint(run, folder, 0)
    assert (len(ranks_on(1)), len(ranks_on(2))) == (2, 2)
    now = time.time()
    (folder / "lost2").touch()
    network.cut_off(2)
    wait_for_checkpoint(run, folder, now)
    assert len(ranks_on(1)) == 4
    kill_one(run, folder)
    assert len(ranks_on(1)) == 4
    (folder / "lost2").unlink()
    network.join_again(2)
    kill_one(run, folder)
    assert (len(ranks_on(1)), len(ranks_on(2))) == (2, 2)
    assert run.wait(timeout=1000) == 0, (folder / "errors").read_text()
    assert told(folder / "log") == told(folder / "whole.log")
    assert (folder / "w").read_bytes() == (folder / "whole").read_bytes()
    notes = {line for line in (folder / "errors").read_text().splitlines() if "double up" in line}
    print("\n".join(notes), "same", sep="\n")


bench.remove_stale()
with tempfile.TemporaryDirectory() as name:
    compile_plan(pathlib.Path(name))
    two = bench.Hosts(2, pathlib.Path(name))
    try:
        trial(two, pathlib.Path(name))
    finally:
        two.remove()
