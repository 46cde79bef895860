# RUN: FSDP_EMULATE_CUDNN=right %build/gpu/attention %build/tests/modules/device_cuda_emulated.so 1,2,70,16 | sed -E 's/[0-9.]+ TFLOP/N TFLOP/g; s/[0-9.]+x/Nx/; s/apart [0-9].*-03/apart a rounding/'
# RUN: FSDP_EMULATE_CUDNN=wrong %build/gpu/attention %build/tests/modules/device_cuda_emulated.so 1,2,70,16 >/dev/null
# The bench of attention times own kernels and cuDNN, and notices when they compute another thing.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
==== out
1,2,70,16 forward   own     N TFLOP/s  cudnn     N TFLOP/s  Nx  apart a rounding
1,2,70,16 backward  own     N TFLOP/s  cudnn     N TFLOP/s  Nx  apart a rounding
==== exit 1
