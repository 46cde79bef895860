# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p -s train.steps=100000000; %fsdp-run -q --threads 1 --checkpoint ck --log log p & first=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; rm ck/lock; %fsdp-run --steps 9 --checkpoint ck p; kill $first; wait $first; echo "exit $?"; ls ck | sed 's/-.*//'
# The file `lock` may be removed: a second run is refused all the same, and the first one makes the file anew.
# NEEDS: build:device_cpu.so
==== out
exit 130
lock
step
==== err
error: another run writes checkpoints to ck
help: name another folder, or end that run: one run at a time can write to a folder
