# RUN: %python %root/tests/cuda/attended.py %fsdpc %fsdp-run %build . D=64 H=1 train.batch=1 auto:crash auto:quick forget auto:quick forget auto:ends auto:none
# A candidate that ends the process is left out of later runs, which say so, until PLAN.tuned is removed.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
auto:crash: exit code -9
auto:quick: the losses of the own kernels
    attention backward [1, 24, 1, 64]: using fsdp-run's kernels instead of others: a run ended while it tried them; FSDP_CUDA_TUNE=again tries them again
auto:quick: the losses of the own kernels
    a form is kept in one pass
auto:ends: exit code -9
auto:none: the losses of the own kernels
1 forms are kept
