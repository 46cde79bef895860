# RUN: python3 %root/tests/checkpoint/restarts.py %fsdpc %build/emulated/run/fsdp-run nccl 1
# So does one with a process for each GPU.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 240
==== out
1 runs: same
