# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && for reserves in YES NOTHING; do env CRASH_RESERVES_$reserves=1 LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=ck- %fsdp-run -q --threads 1 --checkpoint ck-$reserves p && %fsdpc check ck-$reserves; done; cmp ck-*/step-00000006/rank-00001-of-00002.safetensors
# A file system that cannot reserve the room of a file takes a checkpoint all the same.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
