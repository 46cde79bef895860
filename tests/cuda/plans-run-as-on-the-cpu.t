# RUN: cp %root/tests/runtime/blocks.fsd net.fsd && seq 300 > t.txt; for s in f32 "bf16(master = f32)"; do %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 2 same -s "train.precision=$s"; done
# On the emulated GPU two ranks lose as on the cpu, whatever runs first, with graphs or without.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
# TIME: 240
==== out
losses as on the cpu
the same bits in every order
losses as on the cpu
the same bits in every order
