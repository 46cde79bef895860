"""stranger.py FSDP_RUN PLAN: a run by mpirun on one machine. Prints on how many ports its ranks
listen, connects silently to mpirun's port on loopback, and interrupts the run."""
import pathlib
import signal
import socket
import subprocess
import sys
import time


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def ports(pid):
    lines = subprocess.run(["ss", "-H", "-ltnp"], capture_output=True, text=True).stdout
    return [line.split()[3] for line in lines.splitlines() if f"pid={pid}," in line]


log = pathlib.Path("log")
run = subprocess.Popen([sys.argv[1], "-q", "--threads", "1", "--transport", "mpi", "--log", log,
                        "--save", "weights", sys.argv[2]])
while run.poll() is None and not (log.exists() and '"step"' in log.read_text()):
    time.sleep(0.05)
mpirun = children(run.pid)[0]
print("ports of ranks:", sum(len(ports(rank)) for rank in children(mpirun)))
silent = [socket.create_connection(("127.0.0.1", int(at.rsplit(":", 1)[1])))
          for at in ports(mpirun) if at.startswith("127.")]
run.send_signal(signal.SIGTERM)
print("exit", run.wait(), "weights" if pathlib.Path("weights").exists() else "nothing saved")
