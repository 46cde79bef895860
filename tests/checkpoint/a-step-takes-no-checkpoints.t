# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; go() { %fsdp-run -q --threads 1 "$@" p; echo "exit $?"; ls ck; }; for from in ck/step-3 ck/step-3/ ck/step-00000003; do go --resume-or-start $from --keep 0 --steps 3; go --resume-or-start $from; rm -r ck/step-00000006; done; cp -r ck other; cd ck/step-00000003; go() { %fsdp-run -q --threads 1 "$@" ../../p; echo "exit $?"; ls ..; }; go --resume-or-start . --data train=../../t.txt --data val=../../t.txt
# RUN: ls ck/step-00000003; for to in ck/step-3 ck/step-00000003/ ck/step-00000003; do %fsdp-run -q --checkpoint $to p; echo "exit $?"; done; %fsdpc reshard ck -n 1 -o ck/step-3
# Where a run resumes from a step, its checkpoints go beside that step; none is made inside a step.
# NEEDS: build:device_cpu.so
==== out
exit 0
lock
step-00000003
exit 0
lock
step-00000003
step-00000006
exit 0
lock
step-00000003
exit 0
lock
step-00000003
step-00000006
exit 0
lock
step-00000003
exit 0
lock
step-00000003
step-00000006
exit 0
lock
step-00000003
step-00000006
manifest.json
rank-00000-of-00002.safetensors
rank-00001-of-00002.safetensors
exit 1
exit 1
exit 1
==== err
error: cannot write checkpoints to ck/step-3: it is a checkpoint, which must contain nothing else
help: name the folder that it is in, or another one
error: cannot write checkpoints to ck/step-00000003/: it is a checkpoint, which must contain nothing else
help: name the folder that it is in, or another one
error: cannot write checkpoints to ck/step-00000003: it is a checkpoint, which must contain nothing else
help: name the folder that it is in, or another one
error[E0503]: cannot write checkpoints to ck/step-3: it is a checkpoint, which must contain nothing else
  = help: name the folder that it is in, or another one

==== exit 1
