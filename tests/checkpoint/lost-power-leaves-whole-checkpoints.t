# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --save w p && python3 %root/tests/checkpoint/power.py %fsdpc %fsdp-run %build/tests/modules/recorder.so p w
# Whatever a loss of power leaves of unsynced changes, in any order and torn: each checkpoint under its name is whole,
# the newest one is there, and the run goes on with every bit.
# NEEDS: build:device_cpu.so build:tests/modules/recorder.so sanitizer:none
# TIME: 300
==== out
always whole
