# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --log l --save w p && python3 %root/tests/checkpoint/crash.py %fsdp-run %build/tests/modules/crash.so p l w killed 3
# Killed at any call that changes files, a run leaves whole checkpoints; the next one ends with the bits of one that was
# not killed, and leaves nothing else behind.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
# TIME: 300
==== out
killed: killed
