# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; export LD_PRELOAD=%build/tests/modules/crash.so CRASH_LOCKS_NOTHING=1; mkdir -p ck/step-00000001.part-0000000000000007; %fsdp-run -q --threads 1 --checkpoint ck --save w --log log p && ls ck && %fsdpc check ck
# Without flock a run makes checkpoints all the same, says once what that means, and removes no part of another run.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== out
lock
step-00000001.part-0000000000000007
step-00000006
==== err
warning: ck: its file system has no locks (Function not implemented): nothing keeps a second run from writing there too, and what a killed run leaves there stays
