# RUN: cp %root/tests/checkpoint/net.fsd .; seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && run="%fsdp-run -q --threads 1 --checkpoint-form full --max-file 1KB"; (ulimit -Sn 40; $run --checkpoint ck p; ls ck); (ulimit -n 40; $run --checkpoint ck2 p; echo "exit $?"; ls)
# Every rank opens each file of form full: the limit is raised if that is allowed, otherwise reported before the first step.
# NEEDS: build:device_cpu.so
==== out
lock
step-00000008
exit 2
ck
net.fsd
p
t.txt
==== err
error: --checkpoint ck2: each rank keeps 12 files open at once, but a process may open only 40 (ulimit -n)
help: use a larger --max-file
