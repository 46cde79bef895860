# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; %fsdpc compile -q toy.fsd -n 2 -o three -s train.steps=3; %fsdpc compile -q toy.fsd -n 2 -o inf -s "train.optimizer=sgd(lr = 1e30)"; run() { %fsdp-run --threads 1 -q "$@"; }; run --save p.w p; run --save three.w three; run --save inf.w inf 2> /dev/null; go() { LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=$1 CRASH_AT=1 CRASH_AGAIN=1 CRASH_ERRNO=28 run --checkpoint ck --save w "${@:2}" 2>&1 | sed "s/part-[0-9a-f]*/part/;s/(inf)/(nan)/"; echo "exit ${PIPESTATUS[0]}"; ls ck; }; go ck/step p; cmp w p.w; go ck/step --checkpoint-every 1 p; cmp w three.w; go ck/step inf; cmp w inf.w; go part p
# The last checkpoint of a run fails, or three in a row: the weights are saved, then the run ends with exit code 2.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== out
error: rank 0: cannot make ck/step-00000006.part: No space left on device
help: this was the run's last checkpoint; there is no checkpoint in ck; the weights are in w
exit 2
lock
warning: rank 0: the checkpoint of step 1 was not made (the run continues): cannot make ck/step-00000001.part: No space left on device
warning: rank 0: the checkpoint of step 2 was not made (the run continues): cannot make ck/step-00000002.part: No space left on device
error: rank 0: cannot make ck/step-00000003.part: No space left on device
help: this was the third failure in a row; there is no checkpoint in ck; the weights are in w
exit 2
lock
warning: rank 0: the checkpoint of step 1 was not made: cannot make ck/step-00000001.part: No space left on device
error: step 1: loss nan, gradient norm nan: not finite; the weights are those from before this step
note: the first result that is not finite (nan) is that of out toy.fsd:4:16: linear #9, on rank 0
help: train.on_nan = skip leaves such steps out
exit 5
lock
warning: rank 0: the checkpoint of step 6 was not made: cannot make ck/step-00000006.part: No space left on device
error: rank 0: cannot write w: No space left on device
exit 2
lock
