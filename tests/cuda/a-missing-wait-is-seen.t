# RUN: cp %root/tests/runtime/blocks.fsd net.fsd && seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 2 waits
# The emulated GPU runs work as late as events allow: without some of them the loss is another.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 240
==== out
missing waits are seen
