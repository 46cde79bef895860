# RUN: seq 300 >t.txt; %fsdpc compile -q %root/tests/nccl/net.fsd -s train.steps=2 -o p -n 2 && ln -s t.txt x && timeout -s KILL 30 %python -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' %fsdp-run --transport tcp -n 2 -q p; echo $?
# A parent that ignores SIGCHLD does not keep fsdp-run from seeing its ranks end.
# NEEDS: build:transport_tcp.so build:device_cpu.so
==== out
0
