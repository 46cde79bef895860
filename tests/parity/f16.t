# RUN: %python %root/tests/parity/f16.py %fsdpc %fsdp-run
# A small GPT-2 in f16, on 1 to 4 ranks and with micro-batches, has PyTorch's losses and norms.
# TIME: 120
# NEEDS: build:device_cpu.so
==== out
f16 is as near as it can be
