# RUN: %python %root/tests/runtime/loss_scale.py %fsdpc %fsdp-run lower
# A run that ended because gradients overflow at its loss scale goes on with a lower one, as if it had
# had that from the beginning.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
the same
