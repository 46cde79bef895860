"""Runs ranks of tests/tcp/process.c on this machine and prints how each ended and what it printed.

    meet.py PROCESS -n RANKS STEPS [options]

STEPS are the words of process.c, for all ranks.

    --rank R STEPS         other steps for rank R
    --env R NAME=VALUE     only for rank R; R may be `all`; FSDP_NCCL_PORT=other: another port
    --order R,R,... MS     started in this order, MS ms apart
    --signal R NAME MS     sent to rank R (or `all`) MS ms after all have met, or are `ready` if
                           their steps say so; ranks killed at one time see nothing of it
    --client KIND          speaks to rank 0's port meanwhile: garbage, silence, half, flood
    --server KIND          holds the port: garbage, close, silence, beat (a message of ours that
                           does not belong there)
    --timeout S            FSDP_TIMEOUT, default 6
    --words                also what ranks print, sorted

Process numbers print as P, the ports as PORT and OTHER, the host as HOST. One line is printed for
each rank's exit, and one for each different error message, with the number of ranks that printed
it.
"""

import argparse
import collections
import itertools
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import ports

BEAT = 5  # of MessageKind in link.h


def client(kind, port, stop):
    """Connects again and again until rank 0 is there, then until the run is over."""
    kept = []
    while not stop.is_set():
        try:
            s = socket.create_connection(("127.0.0.1", port), timeout=1)
            if kind == "garbage":
                s.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" + bytes(range(256)) * 20)
            elif kind == "half":
                s.sendall(b"FDP1\x01\x00\x01\x00\x70\x00")
            elif kind == "flood":
                s.sendall(b"FDP1\x01\x00\x01\x00\xff\xff\xff\xff" + bytes(100000))
            kept.append(s)
        except OSError:
            pass
        time.sleep(0.01 if len(kept) < 60 else 0.2)


def server(kind, port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    kept = []

    def serve():
        while True:
            s, _ = listener.accept()
            if kind == "garbage":
                s.sendall(b"220 mail.example.org ready\r\n")
            if kind == "beat":
                s.sendall(struct.pack("<IHHIIQQII", 0x31504446, 3, BEAT, 24, 0, 1, 0, 0, 0))
            if kind == "close":
                s.close()
            else:
                kept.append(s)

    threading.Thread(target=serve, daemon=True).start()


class Rank:
    def __init__(self, options, rank, port, other):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(options.n), LOCAL_RANK=str(rank),
                   LOCAL_WORLD_SIZE=str(options.n), MASTER_ADDR="127.0.0.1",
                   FSDP_NCCL_PORT=str(port), FSDP_TIMEOUT=str(options.timeout))
        for who, setting in options.env:
            if who in (str(rank), "all"):
                name, _, value = setting.partition("=")
                env[name] = str(other) if value == "other" else value
        steps = dict(options.rank).get(str(rank), options.steps)
        self.lines, self.met = [], threading.Event()
        self.sign = ": ready" if "ready" in steps.split() else ""
        self.process = subprocess.Popen([options.process, *steps.split()], env=env, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.err = ""
        self.readers = [threading.Thread(target=f) for f in (self.read_out, self.read_err)]
        for reader in self.readers:
            reader.start()

    def read_out(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if self.sign in line:
                self.met.set()
        self.met.set()

    def read_err(self):
        self.err = self.process.stderr.read()


def send_all(chosen, name):
    for rank in chosen:
        if rank.process.poll() is None:
            rank.process.send_signal(getattr(signal, "SIG" + name))


def send(ranks, signals):
    for rank in ranks:
        rank.met.wait()
    begun = time.monotonic()
    for ms, group in itertools.groupby(sorted(signals, key=when), when):
        time.sleep(max(0.0, begun + ms / 1000 - time.monotonic()))
        group = [([rank for r, rank in enumerate(ranks) if who in (str(r), "all")], name)
                 for who, name, _ in group]
        for chosen, name in group:
            if name == "KILL" and len(group) > 1:
                send_all(chosen, "STOP")
        for chosen, name in group:
            send_all(chosen, name)


def when(sent):
    return int(sent[2])


def is_stopped(rank):
    try:
        with open(f"/proc/{rank.process.pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "Tt"
    except OSError:
        return False


def wait(ranks, deadline):
    """Until all have ended but those that are stopped while nobody else lives."""
    while living := [rank for rank in ranks if rank.process.poll() is None]:
        late = time.monotonic() > deadline
        alone = all(is_stopped(rank) for rank in living) and len(living) < len(ranks)
        for rank in living if late or alone else []:
            if not is_stopped(rank):
                print(f"process {rank.process.pid} hangs")
            rank.process.kill()
            rank.process.wait()
        time.sleep(0.02)


def name_of(code):
    return signal.Signals(-code).name if code < 0 else f"exit {code}"


def report(options, ranks, port, other):
    def steady(text):
        text = re.sub(r"process \d+", "process P", text)
        text = re.sub(r" on [\w.-]+\)", " on HOST)", text)
        text = re.sub(r"(process P) on [\w.-]+", r"\1 on HOST", text)
        return re.sub(rf"\b{port}\b", "PORT", re.sub(rf"\b{other}\b", "OTHER", text))

    print(", ".join(f"rank {r} {name_of(rank.process.returncode)}" for r, rank in enumerate(ranks)))
    if options.words:
        for line in sorted(line for rank in ranks for line in rank.lines):
            print("    " + line)
    said = collections.Counter(steady(rank.err) for rank in ranks if rank.err)
    for text, count in sorted(said.items()):
        print(f"{count} said:")
        print("    " + text.rstrip("\n").replace("\n", "\n    "))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("process")
    parser.add_argument("-n", type=int, required=True)
    parser.add_argument("steps")
    for name, count in (("rank", 2), ("env", 2), ("signal", 3)):
        parser.add_argument("--" + name, nargs=count, action="append", default=[])
    parser.add_argument("--order", nargs=2)
    parser.add_argument("--client")
    parser.add_argument("--server")
    parser.add_argument("--timeout", type=int, default=6)
    parser.add_argument("--words", action="store_true")
    options = parser.parse_args()
    (port, _kept), (other, _kept_too) = ports.hold(), ports.hold()
    stop = threading.Event()
    if options.server:
        server(options.server, port)
    if options.client:
        threading.Thread(target=client, args=(options.client, port, stop), daemon=True).start()
    order, apart = range(options.n), 0.0
    if options.order:
        order, apart = map(int, options.order[0].split(",")), int(options.order[1]) / 1000
    ranks = [None] * options.n
    for r in order:
        ranks[r] = Rank(options, r, port, other)
        time.sleep(apart)
    if options.signal:
        threading.Thread(target=send, args=(ranks, options.signal), daemon=True).start()
    wait(ranks, time.monotonic() + 400)
    stop.set()
    for rank in ranks:
        for reader in rank.readers:
            reader.join()
    report(options, ranks, port, other)
    sys.exit(0)


if __name__ == "__main__":
    main()
