# RUN: %python %root/tests/cuda/attended.py %fsdpc %fsdp-run %build . auto auto:right forget auto:fast auto:right auto:unsteady forget auto:right auto:fast
# Attention runs through cuDNN where that was found faster, once for all runs of the plan.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
auto: the losses of the own kernels
auto:right: the losses of the own kernels
auto:fast: losses within 1e-2, other bits
auto:right: losses within 1e-2, other bits
auto:unsteady: the losses of the own kernels
    attention [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs between two runs
    attention backward [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs between two runs
auto:right: the losses of the own kernels
auto:fast: the losses of the own kernels
2 forms are kept
