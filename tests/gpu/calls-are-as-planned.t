# RUN: cp %root/tests/runtime/blocks.fsd . && seq 300 >t.txt; for n in 1 2 3; do mkdir %t/$n; %python %root/tests/gpu/ordered.py %fsdpc %fsdp-run %build %t/$n net.fsd $n; done
# What the cuda device asks of the CUDA runtime has the plan's edges, streams and collectives.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_recorded.so
# TIME: 120
==== net.fsd
use "blocks.fsd"
train { steps = 4 }
==== out
program train: 2 calls as planned
program eval: 2 calls as planned
6 graphs
program train: 4 calls as planned
program eval: 4 calls as planned
program train: 4 calls as planned
program eval: 4 calls as planned
