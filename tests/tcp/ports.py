"""A port for rank 0 that no other test takes meanwhile.

    ports.py COMMAND...    runs the command with such a port in FSDP_NCCL_PORT

The port is bound, but nothing listens there: rank 0, which allows an address to be reused, can
still take it, and a search for a free port finds another one. The kernel assigns no port from 10000
to 30000 to connections.
"""

import os
import random
import socket
import subprocess
import sys


def hold():
    """(port, the socket that keeps it)"""
    while True:
        held, port = socket.socket(), random.randrange(10000, 30000)
        try:
            held.bind(("0.0.0.0", port))
        except OSError:
            held.close()
            continue
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return port, held


if __name__ == "__main__":
    number, kept = hold()
    env = dict(os.environ, FSDP_NCCL_PORT=str(number))
    sys.exit(subprocess.run(sys.argv[1:], env=env, check=False).returncode)
