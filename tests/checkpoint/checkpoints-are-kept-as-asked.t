# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --checkpoint-every 1 p; ls ck
# RUN: %fsdp-run -q --threads 1 --checkpoint cl --checkpoint-every 1 --keep 1 --keep-every 3 p; ls cl
# RUN: %fsdp-run -q --threads 1 --checkpoint cm --checkpoint-every 3 --keep 0 --log log p; ls cm; grep -o '"event":"checkpoint","step":[0-9]*' log
# The newest two stay, or as many as asked for, and multiples; the last state always has one.
# NEEDS: build:device_cpu.so
==== out
lock
step-00000007
step-00000008
lock
step-00000003
step-00000006
step-00000008
lock
step-00000003
step-00000006
step-00000008
"event":"checkpoint","step":3
"event":"checkpoint","step":6
"event":"checkpoint","step":8
