# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; %python %root/tests/nccl/faked.py dropped %fsdpc %build %t net.fsd 2 -s train.steps=2 -s train.eval_every=1
# When the transport leaves a collective out, whichever, the reader of its calls notices.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 120
==== out
28 of 28 noticed
