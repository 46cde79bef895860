# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; r="%fsdp-run -q --threads 1 --checkpoint-every 2 --restarts"; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=a/step-00000004 CRASH_AT=1 $r 5 --checkpoint a p; echo "exit $?"; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=b/step CRASH_AT=40 $r 1 --checkpoint b p 2> b.err; echo "exit $?"; sed -E "s/after [0-9]+ steps/after N steps/" b.err >&2; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=c/ CRASH_AT=1 $r 5 --checkpoint c p; echo "exit $?"
# A rank that is lost in the same way after the same step, with no checkpoint in between, is not started a third time; and
# none is started more often than it may be. How many steps are done when a write of a checkpoint fails depends on the disk.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== out
exit 4
exit 4
exit 4
==== err
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
restart 1 of 5: the run failed after 4 steps and goes on from a/step-00000002
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
error: the run failed twice after 4 steps, with no checkpoint in between: a restart would only repeat it
help: --resume-or-start a goes on when the cause is gone
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
restart 1 of 1: the run failed after N steps and goes on from b/step-00000002
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
error: the run failed after N steps, and --restarts 1 is used up
help: --resume-or-start b goes on when the cause is gone
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
restart 1 of 5: the run failed before its first step and begins again, since there is no checkpoint yet
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
error: the run failed twice before its first step, with no checkpoint in between: a restart would only repeat it
