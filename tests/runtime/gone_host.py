"""gone_host.py BUILD: runs on two hosts, network namespaces of this machine. On the second host
everything is killed, or only the rank, or only mpirun's daemon. Prints the output of fsdp-run and
its exit code."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("hosts", str(ROOT / "tests" / "bench" / "hosts"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("hosts", LOADER))
LOADER.exec_module(bench)


def start(folder):
    environment = {**os.environ, "OMPI_MCA_plm_rsh_agent": str(folder / "agent"),
                   "OMPI_MCA_btl_tcp_if_include": "eth0", "OMPI_MCA_oob_tcp_if_include": "eth0"}
    run = f"{BUILD}/fsdp-run -q --threads 1 --hosts 10.213.77.1:1,10.213.77.2:1 --log log p"
    return subprocess.Popen(["ip", "netns", "exec", f"{bench.NAME}1", "unshare", "--uts", "bash",
                             "-c", f"hostname {bench.NAME}1; exec {run}"], cwd=folder, text=True,
                            env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for_steps(run, log):
    while run.poll() is None and not (log.exists() and log.read_text().count('"step"') > 5):
        time.sleep(0.05)


def kill_there(names):
    """Ranks before their daemon: once that is gone they say so."""
    found = bench.sh(f"ip netns pids {bench.NAME}2").stdout.split()
    name_of = {int(p): pathlib.Path(f"/proc/{p}/comm").read_text().strip() for p in found}
    for pid in sorted(name_of, key=lambda p: name_of[p] != "fsdp-run"):
        if not names or name_of[pid] in names:
            os.kill(pid, signal.SIGKILL)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "m.fsd").write_text(bench.MODEL)
        (folder / "t.txt").write_text("".join(f"{i}\n" for i in range(3000)))
        subprocess.run([BUILD / "fsdpc", "compile", "-q", "m.fsd", "-o", "p", "-n", "2"],
                       cwd=folder, check=True)
        hosts = bench.Hosts(2, folder)
        try:
            for names in ((), ("fsdp-run",), ("orted", "prted")):
                (folder / "log").unlink(missing_ok=True)
                run = start(folder)
                wait_for_steps(run, folder / "log")
                kill_there(names)
                text = run.communicate()[1]
                # what Open MPI says when the host goes in the middle of a message
                text = re.sub(r"^\[\S+\]\[\[\d+,\d+\],\d+\]\[\S+btl_tcp.*\n", "", text, flags=re.M)
                text = re.sub(r"fsdp\d+-", "fsdp-", re.sub(r"process \d+", "process P", text))
                print(re.sub(r"in (.*m\.fsd:\d+:\d+|the run's end).*", "in PLACE", text),
                      run.returncode, sep="")
        finally:
            hosts.remove()


main()
