# RUN: for room in 50000 70000 90000 120000; do FSDP_EMULATE_CUDNN=right %build/gpu/attention --workspace $room %build/tests/modules/device_cuda_emulated.so 2,3,72,16 | sed -n '$ s/.*apart .*-03/apart a rounding/p'; done
# RUN: FSDP_EMULATE_CUDNN=right %build/gpu/attention --workspace 90000 %build/tests/modules/device_cuda_emulated.so 2,3,70,16 >/dev/null
# Where the workspace is too small for all scores, cuDNN gets whole batch entries or heads at a time.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
==== out
apart a rounding
apart a rounding
apart a rounding
apart a rounding
==== err
attention backward [2, 70, 3, 16]: using fsdp-run's kernels instead of cuDNN: the workspace is too small for any equal part of the call
