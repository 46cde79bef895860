# RUN: cp %root/tests/checkpoint/net.fsd .; seq 300 > t.txt; %fsdpc compile -q net.fsd -o p; ln -s nowhere/else link; for to in p link t.txt/ck nowhere/else; do %fsdp-run -q --threads 1 --checkpoint $to --steps 1 p; echo "exit $?"; done; %fsdp-run -q --threads 1 --checkpoint ck --steps 1 p && %fsdpc reshard ck -n 2 -o p; echo "exit $?"
# A path that is not and cannot become a folder is reported before the first step.
# NEEDS: build:device_cpu.so
==== out
exit 2
exit 2
exit 2
exit 2
exit 2
==== err
error: cannot write checkpoints to p: Not a directory
error: cannot write checkpoints to link: No such file or directory
error: cannot make t.txt/ck: Not a directory
error: cannot make nowhere/else: No such file or directory
error: cannot write checkpoints to p: Not a directory
