# RUN: %build/tests/cut_test %build/tests/modules/device_cuda_emulated.so 2>&1 | grep "OK\|PASSED"
# Kernels of the emulated GPU compute a rank's part as the whole op does, where they must know where the part begins.
# NEEDS: build:tests/cut_test build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
[       OK ] every_cut_is_true
[  PASSED  ] 1 test(s).
