# RUN: %build/tests/cuda_kernels %build/tests/modules/device_cuda_raced.so "" one | tail -1
# Kernels order what their threads share, stay inside of operands, and read what was written.
# NEEDS: sanitizer:none build:tests/modules/device_cuda_raced.so
# TIME: 300
==== out
0 wrong, 0 ops without a run
