# RUN: cp %root/tests/runtime/blocks.fsd . && seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 2 same
# RUN: %fsdpc compile -q -n 1 net.fsd -o p && %t/fsdp-run --device cuda p 2>&1 | grep -a 'host bytes' | sed 's/[0-9]* per rank/N per rank/'
# RUN: FSDP_CUDA_GRAPH=1 %t/fsdp-run --quiet --device cuda p 2>&1 | grep -a ^error
# With pin = false what is offloaded is in pageable memory, which no graph copies from: the losses of the cpu, in every
# order.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 240
==== net.fsd
use "blocks.fsd"
train { accumulate = 3 }
shard { offload = (states = cpu, params = cpu, grads = cpu, pin = false) }
==== out
losses as on the cpu
the same bits in every order
host bytes      N per rank, offloaded, not pinned
error: FSDP_CUDA_GRAPH=1: a graph cannot record copies of values offloaded to memory that is not pinned
==== exit 2
