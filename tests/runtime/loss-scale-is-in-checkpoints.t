# RUN: %python %root/tests/runtime/loss_scale.py %fsdpc %fsdp-run resume
# A run of f16 that goes on from a checkpoint has every later bit, the loss scale included.
# TIME: 120
# NEEDS: build:device_cpu.so
==== out
resumed
