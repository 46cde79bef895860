# RUN: %python %root/tests/cuda/compiled.py %build/device_cuda.so
# No compiled kernel uses more than 16 bytes of local memory, and the threads that it may be launched with have
# registers. Each waits for the kernel before it (griddepcontrol.wait) before it touches memory, so its blocks may come
# before that one has ended.
# NEEDS: build:device_cuda.so
==== out
every kernel waits first and keeps to its registers
