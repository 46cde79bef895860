# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; go() { LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=ck/ %fsdp-run --threads 1 -q --checkpoint ck --checkpoint-every 1 --log log p 2>&1 | sed "s/part-[0-9a-f]*/part/"; echo "exit ${PIPESTATUS[0]}"; ls ck; grep -o '"checkpoint","step":.\|"failed":true' log; rm -r ck; }; CRASH_AT=10 CRASH_ERRNO=28 go; CRASH_AT=23 CRASH_AGAIN=1 CRASH_ERRNO=5 go; true
# A save that fails is reported, and the next one is tried; three failures in a row, or a failure of the last save, end the run.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== out
warning: rank 0: the checkpoint of step 1 was not made (the run continues): cannot write ck/step-00000001.part/rank-00000-of-00001.safetensors: No space left on device
exit 0
lock
step-00000005
step-00000006
"checkpoint","step":1
"failed":true
"checkpoint","step":2
"checkpoint","step":3
"checkpoint","step":4
"checkpoint","step":5
"checkpoint","step":6
warning: rank 0: the checkpoint of step 2 was not made (the run continues): cannot make ck/step-00000002.part: Input/output error
warning: rank 0: the checkpoint of step 3 was not made (the run continues): cannot make ck/step-00000003.part: Input/output error
error: cannot make ck/step-00000004.part: Input/output error
help: this was the third failure in a row; continue with --resume-or-start ck
exit 2
lock
step-00000001
"checkpoint","step":1
"checkpoint","step":2
"failed":true
"checkpoint","step":3
"failed":true
"checkpoint","step":4
"failed":true
