# RUN: %python %root/tests/runtime/loss_scale.py %fsdpc %fsdp-run sequence
# A gradient that overflows f16 on any rank leaves the step out on all of them; the loss scale goes
# as PyTorch's does.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== out
65536 32768 skipped 32768 65536
