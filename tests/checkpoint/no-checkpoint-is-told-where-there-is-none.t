# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=ck/ CRASH_AT=10 CRASH_AGAIN=1 CRASH_ERRNO=28 %fsdp-run --threads 1 -q --checkpoint ck p 2>&1 | sed "s/part-[0-9a-f]*/part/"
# A run whose only checkpoint fails does not point to another checkpoint.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== out
error: cannot write ck/step-00000006.part/rank-00000-of-00001.safetensors: No space left on device
help: this was the run's last checkpoint; there is no checkpoint in ck
==== exit 2
