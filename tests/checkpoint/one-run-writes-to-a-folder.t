# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p -s train.steps=100000000; %fsdp-run -q --threads 1 --checkpoint ck --log log p & first=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; %fsdp-run --checkpoint ck p 2>&1 | sed 's/: process .*/: who/'; kill $first; wait $first; echo "exit $?"; ls ck | sed 's/-.*//'
# The second run reports which run writes there; the first one ends with a checkpoint.
# NEEDS: build:device_cpu.so
==== out
error: another run writes checkpoints to ck: who
help: name another folder, or end that run: one run at a time can write to a folder
exit 130
lock
step
