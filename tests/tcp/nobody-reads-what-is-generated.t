# RUN: seq 300 >t.txt; %fsdpc compile -q %root/tests/nccl/net.fsd -s train.steps=1 -n 2 -o p && %fsdp-run -q --save w p; timeout -s KILL 60 %fsdp-run --transport tcp -n 2 -q --threads 1 --load w --generate 1 --tokens 3000 p 2>err | head -c 1 >/dev/null; echo ${PIPESTATUS[0]}; grep -o "cannot write the text.*\|killed" err
# A reader that has enough is a failed write: rank 0 says so, and is not taken for lost.
# NEEDS: build:transport_tcp.so build:device_cpu.so
==== out
2
cannot write the text to standard output
