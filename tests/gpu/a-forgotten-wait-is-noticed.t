# RUN: cp %root/tests/runtime/blocks.fsd . && seq 300 >t.txt; %python %root/tests/gpu/ordered.py %fsdpc %fsdp-run %build %t net.fsd 2 0
# The reader of the calls notices when the cuda device forgets a wait, of edges, marks or program ends.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_recorded.so sanitizer:none
# TIME: 120
==== net.fsd
use "blocks.fsd"
train { steps = 4 }
==== out
12 of 12 noticed
