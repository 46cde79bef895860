# RUN: for one in "1 1,1,290,64" "2 1,1,150,128"; do FSDP_EMULATE_BLOCKS=shuffled FSDP_EMULATE_SEED=${one% *} %build/gpu/attention %build/tests/modules/device_cuda_emulated.so ${one#* } | sed -nE '/backward/{s/[0-9.]+ TFLOP/N TFLOP/g; s/[0-9.]+x/Nx/g; s/apart [0-9.]+e[-+][0-9]+.*cudnn.*/apart by roundings/p}'; done
# The one-pass backward has the same bits in a second run, in whatever order its blocks come.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
1,1,290,64 backward  own     N TFLOP/s  onepass     N TFLOP/s  Nx  apart by roundings
1,1,150,128 backward  own     N TFLOP/s  onepass     N TFLOP/s  Nx  apart by roundings
