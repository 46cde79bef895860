# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p -s 'train.optimizer=adamw(lr = 0.4)'; %fsdp-run -q --threads 1 --checkpoint ck --checkpoint-every 2 --keep 1 --keep-best --log log p; ls ck; grep -o '"event":"eval".*' log | sed 's/\.[0-9]*.*//'
# The checkpoint with the least evaluation loss is kept in addition to the newest one.
# NEEDS: build:device_cpu.so
==== out
lock
step-00000006
step-00000008
"event":"eval","step":2,"loss":6
"event":"eval","step":4,"loss":3
"event":"eval","step":6,"loss":3
"event":"eval","step":8,"loss":3
