# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; go() { %fsdp-run -q --threads 1 "$@" p; echo "exit $?"; ls g 2> /dev/null; }; go --checkpoint ck --steps 4; go --resume ck --dump-grads 3=g; FSDP_RUN_ATTEMPT=1 go --resume ck --checkpoint ck --steps 4 --dump-grads 3=g; go --resume-or-start ck --steps 4 --dump-grads 3=g; go --resume ck --dump-grads 4=g
# --dump-grads refuses a step that was done before the checkpoint, except in a run that was started again, by --restarts
# or with the same command, which may have written it.
# NEEDS: build:device_cpu.so
==== out
exit 0
exit 1
exit 0
exit 0
exit 0
g
==== err
error: --dump-grads 3: the run continues from step 4
help: name a step from 4 on, or resume from an earlier checkpoint
