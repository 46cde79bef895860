# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; mkdir link name text; echo kept > victim; ln -s ../victim link/lock; ln victim name/lock; echo mine > text/lock; for ck in link name text; do %fsdp-run -q --checkpoint $ck p; echo "exit $?"; done; cat victim text/lock
# A lock that a run did not make is neither followed, nor emptied, nor written.
# NEEDS: build:device_cpu.so
==== out
exit 2
exit 2
exit 2
kept
mine
==== err
error: cannot lock link/lock: no run created this file
help: move it away, or name another folder
error: cannot lock name/lock: no run created this file
help: move it away, or name another folder
error: cannot lock text/lock: no run created this file
help: move it away, or name another folder
