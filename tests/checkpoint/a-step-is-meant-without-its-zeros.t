# RUN: cp %root/tests/checkpoint/toy.fsd .; seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck p
# RUN: for a in "--resume ck/step-6" "--resume-or-start ck/step-006/" "--resume-or-start ck/step-5" ; do %fsdp-run -q --threads 1 $a p; echo "exit $?"; done; ls; %fsdpc reshard ck/step-6 -n 1 -o x; echo "exit $?"
# A step's name without its zeros is told with them; it is no reason to start a run anew.
# NEEDS: build:device_cpu.so
==== out
exit 2
exit 2
exit 0
ck
p
t.txt
toy.fsd
exit 2
==== err
error: --resume ck/step-6: there is no checkpoint
help: did you mean ck/step-00000006?
error: --resume-or-start ck/step-006/: there is no checkpoint
help: did you mean ck/step-00000006?
error: cannot read ck/step-6: No such file or directory
help: did you mean ck/step-00000006?
