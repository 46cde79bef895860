# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --log l --save w p && for how in full broken interrupted short; do python3 %root/tests/checkpoint/crash.py %fsdp-run %build/tests/modules/crash.so p l w $how 9; done
# A full disk, a disk that fails from then on, a call that a signal interrupts: no checkpoint, and the run goes on or says
# so; writes that are cut short are completed.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
# TIME: 300
==== out
full: exit 0, exit 2
broken: exit 0, exit 2
interrupted: exit 0, exit 2
short: exit 0
