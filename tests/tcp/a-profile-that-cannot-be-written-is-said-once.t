# RUN: seq 300 >t.txt; %fsdpc compile -q %root/tests/nccl/net.fsd -s train.steps=2 -o p -n 2; mkdir prof.json.1; %fsdp-run --transport tcp -n 2 -q --profile prof.json p; echo $?
# A rank whose profile cannot be written has said why the run ends with 2.
# NEEDS: build:transport_tcp.so build:device_cpu.so
==== out
2
==== err
error: --profile prof.json.1: Is a directory
