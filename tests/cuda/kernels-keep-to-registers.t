# RUN: %python %root/tests/cuda/compiled.py %build/device_cuda.so
# No compiled kernel uses local memory, and the threads that it may be launched with have registers.
# NEEDS: build:device_cuda.so
==== out
every kernel keeps to its registers
