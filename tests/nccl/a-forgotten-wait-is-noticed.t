# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; %python %root/tests/nccl/faked.py waits %fsdpc %build %t net.fsd 2 -s train.steps=2 -s train.eval_every=1
# When the device forgets that a stream waits for another, the reader of its calls notices.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 120
==== out
12 of 12 noticed
