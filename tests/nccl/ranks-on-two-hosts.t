# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; %python %root/tests/nccl/hosts.py %fsdpc %build %t net.fsd
# Between two hosts, with a good link or a poor one, bits are those of local; one cut off ends all.
# NEEDS: build:emulated/run/transport_nccl.so network:namespaces sanitizer:none
# TIME: 90
# WAITS: for hosts that meet
==== out
two hosts: the same bits
killed: all ranks end, one is named
cut off: all ranks end, one is named
a poor link: the same bits, packets were lost
