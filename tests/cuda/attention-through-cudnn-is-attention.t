# RUN: FSDP_CUDA_ATTENTION=cudnn FSDP_EMULATE_CUDNN=right %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so attention bf16 | tail -n 1
# RUN: FSDP_CUDA_ATTENTION=cudnn FSDP_EMULATE_CUDNN=wrong %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so "attention 70" bf16 | tail -n 1 | sed 's/^[1-9][0-9]* wrong/many wrong/'
# The operation graphs that cuDNN gets compute attention and its gradients, in every layout. It gets bf16 only.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
0 wrong, 0 ops without a run
many wrong, 0 ops without a run
==== exit 1
