# RUN: %python %root/tests/cuda/attended.py %fsdpc %fsdp-run %build . D=64 H=1 train.batch=1 auto:crash auto:quick forget auto:lost
# An attention that ends the process which tries it, or is wrong, is left out, in this run and later ones, until PLAN.tuned is removed.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
auto:crash: the losses of the own kernels
    attention backward [1, 24, 1, 64]: using other kernels instead of the one-pass kernel: the process that tried it was ended by signal 9 (Killed)
auto:quick: the losses of the own kernels
auto:lost: the losses of the own kernels
    attention backward [1, 24, 1, 64]: using other kernels instead of the one-pass kernel: its result 0 differs from ours in row 0
1 forms are kept
