# RUN: cp %root/tests/checkpoint/toy.fsd .; seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --checkpoint-every 3 --save w p
# RUN: for a in "--resume ck/step-3" "--resume-or-start ck/step-003/" "--resume ck/step-5"; do %fsdp-run -q --threads 1 --checkpoint x$RANDOM $a --save v p; echo "exit $?"; done; cmp v w; %fsdp-run -q --steps 0 --load ck/step-6 --save u p; cmp u w; %fsdpc convert -q ck/step-6 -o c && cmp c w; %fsdpc reshard -q ck/step-6 -n 1 -o one && ls one; %fsdpc check ck/step-6; %fsdpc check ck/step-5
# A step's name may be written without its zeros; if that step does not exist, the run does not start anew.
# NEEDS: build:device_cpu.so
==== out
exit 0
exit 0
exit 2
lock
step-00000006
==== err
error: --resume ck/step-5: there is no checkpoint
help: --resume-or-start starts a run where there is none
error: cannot open ck/step-5: No such file or directory
==== exit 2
