# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; python3 closed.py %fsdp-run -q --threads 1 --save w --log - p; ls w
# A run whose log goes to a pipe without a reader reports it once, continues, and saves.
# NEEDS: build:device_cpu.so
==== closed.py
import os, subprocess, sys
reads, writes = os.pipe()
os.close(reads)
print("exit", subprocess.run(sys.argv[1:], stdout=writes).returncode, flush=True)
==== out
exit 0
w
==== err
warning: the program that read the log from standard output has ended; the run continues without a log
