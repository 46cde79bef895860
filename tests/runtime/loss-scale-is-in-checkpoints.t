# RUN: %python %root/tests/runtime/loss_scale.py %fsdpc %fsdp-run resume
# A run of f16 that resumes from a checkpoint has every later bit, including the loss scale.
# TIME: 120
# NEEDS: build:device_cpu.so
==== out
resumed
