# RUN: cp %root/tests/runtime/blocks.fsd . && seq 300 > t.txt; for how in "" ', path = "."'; do sed "s/HOW/$how/" net.fsd > one.fsd; for s in f32 bf16; do %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t one.fsd 2 same -s "train.precision=$s"; done; done
# RUN: %fsdpc compile -q -n 1 one.fsd -o p && FSDP_CUDA_GRAPH=1 %t/fsdp-run --quiet --device cuda p 2>&1 | grep -a ^error
# What is in pinned host memory is copied beside the computation, in recorded programs too; what is in a file as pageable
# memory is, outside of graphs: the losses of the cpu, in every order.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 480
==== net.fsd
use "blocks.fsd"
train { accumulate = 3 }
shard { offload = (states = cpu, params = cpu, grads = cpuHOW) }
==== out
losses as on the cpu
the same bits in every order
losses as on the cpu
the same bits in every order
losses as on the cpu
the same bits in every order
losses as on the cpu
the same bits in every order
error: FSDP_CUDA_GRAPH=1: a graph cannot record copies of values offloaded to a file
==== exit 2
