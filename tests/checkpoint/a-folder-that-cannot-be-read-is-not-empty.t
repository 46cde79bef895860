# RUN: cp %root/tests/checkpoint/toy.fsd .; seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; ln -s ck ck; for how in --resume --resume-or-start; do %fsdp-run -q $how ck p; echo "exit $?"; done
# Where it cannot be seen whether there is a checkpoint, a run is not started anew.
# NEEDS: build:device_cpu.so
==== out
exit 2
exit 2
==== err
error: --resume ck: cannot read it: Too many levels of symbolic links
error: --resume-or-start ck: cannot read it: Too many levels of symbolic links
