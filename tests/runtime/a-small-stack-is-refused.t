# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; for s in OMP_STACKSIZE=16k GOMP_STACKSIZE=60 "OMP_STACKSIZE= 60000 B" OMP_STACKSIZE=1M; do env "$s" %fsdp-run -q --threads 1 p; echo "$s: $?"; done; ulimit -s 64; for x in %fsdpc %fsdp-run; do env -i $x --version; echo "exit $?"; done
# Stacks that are too small for the threads of a run, or for the program itself, are reported instead of ending it by a signal.
# NEEDS: build:device_cpu.so sanitizer:none
==== out
OMP_STACKSIZE=16k: 2
GOMP_STACKSIZE=60: 2
OMP_STACKSIZE= 60000 B: 2
OMP_STACKSIZE=1M: 0
exit 2
exit 2
==== err
error: OMP_STACKSIZE=16k: the threads of a run need stacks of at least 64 KiB
help: unset OMP_STACKSIZE
error: GOMP_STACKSIZE=60: the threads of a run need stacks of at least 64 KiB
help: unset GOMP_STACKSIZE
error: OMP_STACKSIZE= 60000 B: the threads of a run need stacks of at least 64 KiB
help: unset OMP_STACKSIZE
error: the limit on the stack (ulimit -s) is less than 256 KiB
help: ulimit -s 8192
error: the limit on the stack (ulimit -s) is less than 256 KiB
help: ulimit -s 8192
