# RUN: %python %root/tests/cuda/attended.py %fsdpc %fsdp-run %build . D=64 H=1 train.batch=1 auto:quick auto:lost forget auto onepass
# The one-pass backward runs where it was found faster, and only if it computes what the own kernels do.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
auto:quick: the losses of the own kernels
    a form is kept in one pass
auto:lost: the losses of the own kernels
    attention backward [1, 24, 1, 64]: using other kernels instead of the one-pass kernel: its result 0 differs from ours in row 0
    a form is kept in one pass
auto: the losses of the own kernels
onepass: the losses of the own kernels
1 forms are kept
