# RUN: cp %root/tests/runtime/blocks.fsd net.fsd && seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 1 same -s train.accumulate=3
# A captured and replayed program gives the bits of one that is issued.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 240
==== out
losses as on the cpu
the same bits in every order
