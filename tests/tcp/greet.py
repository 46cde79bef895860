"""greet.py PROCESS: connects to rank 0 of two ranks pretending to be rank 1: with a wrong number of
ranks, from a host whose name contains terminal control bytes; then, if rank 0 has FSDP_SECRET,
with an invalid proof. Prints rank 0's answers (kinds of link.h) and output."""
import os
import re
import socket
import struct
import subprocess
import sys
import time

import ports

REFUSED, PROOF, HELLO = 3, 17, 1
NAMES = {2: "NOTED", 3: "REFUSED", 16: "CHALLENGE"}


def send(s, kind, payload):
    s.sendall(struct.pack("<IHHII", 0x31504446, 4, kind, len(payload), 0) + payload)


def receive(s):
    head = s.recv(16, socket.MSG_WAITALL)
    if len(head) < 16:
        return "the end"
    kind, size = struct.unpack("<IHHII", head)[2:4]
    s.recv(size, socket.MSG_WAITALL)
    return NAMES.get(kind, kind)


def connect(port):
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            time.sleep(0.05)


def trial(secret, ranks):
    port, _kept = ports.hold()
    env = dict(os.environ, RANK="0", WORLD_SIZE="2", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1",
               FSDP_NCCL_PORT=str(port), FSDP_TIMEOUT="3", **secret)
    rank = subprocess.Popen([sys.argv[1], "compare"], env=env, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
    s = connect(port)
    hello = struct.pack("<QQiiiiII32s64s", 0, 0, 1, ranks, 7, 1, 0, bool(secret), b"n" * 32,
                        b"\x1b[31mred\x7f\xc2\x9b\xc3\xa9")
    send(s, HELLO, hello)
    answers = [receive(s)]
    if secret:
        send(s, PROOF, b"p" * 32)
        answers.append(receive(s))
    print(", ".join(answers))
    print(re.sub(rf"\b{port}\b", "PORT", rank.communicate()[1]), end="")
    print("exit", rank.returncode)


trial({}, 9)
trial({"FSDP_SECRET": "a-long-secret-of-this-run"}, 2)
