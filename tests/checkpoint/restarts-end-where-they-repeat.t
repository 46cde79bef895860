# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p -s train.steps=6000 -s train.eval_every=none; r="%fsdp-run -q --threads 1 --checkpoint-every 2000 --restarts"; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=dump CRASH_AT=1 $r 5 --checkpoint a --dump-grads 5999=dump p 2> e; echo "exit $?"; tail -n 2 e; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=b CRASH_AT=1 $r 5 --checkpoint b p; echo "exit $?"
# RUN: %fsdpc compile -q toy.fsd -n 2 -o q -s train.steps=100000000 -s train.eval_every=none; %fsdp-run -q --threads 1 --checkpoint c --checkpoint-every 50 --restarts 1 --log log q 2> e & run=$!; for s in 60, 'resume"'; do until grep -q "\(step\|event\)\":\"\?$s" log 2> /dev/null; do sleep 0.1; done; pkill -9 -P $run; done; wait $run; echo "exit $?"; grep -o 'and --restarts 1 is used up' e
# A rank that is lost in the same way after the same step, with no checkpoint in between, is not started again for ever; and
# none is started more often than it may be.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
# TIME: 60
==== out
exit 4
error: the run failed twice after 6000 steps, with no checkpoint in between: a restart would only fail again
help: --resume-or-start a continues once the cause is gone
exit 4
exit 4
and --restarts 1 is used up
==== err
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
restart 1 of 5: the run failed before its first step and starts over, since there is no checkpoint yet
error: the run was killed (Killed)
help: the kernel's log (dmesg) tells whether memory ran out
error: the run failed twice before its first step, with no checkpoint in between: a restart would only fail again
