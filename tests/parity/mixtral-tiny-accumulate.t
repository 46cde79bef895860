# RUN: %python %root/tests/parity/parity.py %fsdpc %fsdp-run mixtral-tiny-accumulate -n 1
# RUN: %python %root/tests/parity/parity.py %fsdpc %fsdp-run mixtral-tiny-ignore-accumulate -n 2
# Each micro-batch has an auxiliary term of its own, over all ranks; the mean of them weighs by targets, as in PyTorch.
# TIME: 120
# NEEDS: build:device_cpu.so
==== out
mixtral-tiny-accumulate on 1 ranks: as PyTorch
mixtral-tiny-ignore-accumulate on 2 ranks: as PyTorch
