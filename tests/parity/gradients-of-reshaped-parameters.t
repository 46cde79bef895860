# RUN: %python %root/tests/parity/reshaped.py %fsdpc %fsdp-run
# The gradients of parameters that are read under `as` are right, whatever is sharded and gathered.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
18 runs, 0 differ
