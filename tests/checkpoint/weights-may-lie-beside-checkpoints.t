# RUN: cp %root/tests/checkpoint/net.fsd .; seq 300 > t.txt; %fsdpc compile -q net.fsd -o p -n 2; %fsdp-run -q --threads 1 --save whole p
# RUN: r="%fsdp-run -q --threads 1 --save out/"; $r --checkpoint out --steps 4 p && $r --resume-or-start out --steps 6 p && $r --resume out --checkpoint out p && cmp out/model.safetensors whole && %fsdpc check out && %fsdpc convert out -o again && cmp again whole && %fsdpc convert out -o out/ && %fsdpc check out && ls out
# RUN: for to in out/step-00000008 out/step-00000008/ out/step-00000008/w; do %fsdp-run -q --threads 1 --save $to p; echo "exit $?"; %fsdpc convert out -o $to; echo "exit $?"; done; %fsdpc check out
# A run resumes from checkpoints in a folder into which its weights were saved; weights are not saved into a checkpoint.
# NEEDS: build:device_cpu.so
==== out
lock
model.safetensors
step-00000006
step-00000008
exit 1
exit 1
exit 1
exit 1
exit 1
exit 1
==== err
error: cannot write out/step-00000008: a checkpoint must contain nothing else
help: name another place
error[E0503]: cannot write out/step-00000008: a checkpoint must contain nothing else
  = help: name another place

error: cannot write out/step-00000008: a checkpoint must contain nothing else
help: name another place
error[E0503]: cannot write out/step-00000008: a checkpoint must contain nothing else
  = help: name another place

error: cannot write out/step-00000008/w: a checkpoint must contain nothing else
help: name another place
error[E0503]: cannot write out/step-00000008/w: a checkpoint must contain nothing else
  = help: name another place

