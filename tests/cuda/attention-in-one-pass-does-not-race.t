# RUN: for w in "attention_grad 20 140 64" "attention_grad 70 130 128" "attention_grad 70 260 64" "attention_grad 135 135 64" "attention_packed_grad 140 64"; do FSDP_CUDA_ATTENTION=onepass FSDP_EMULATE_BLOCKS=shuffled %build/tests/cuda_kernels %build/tests/modules/device_cuda_raced.so "$w" one | tail -n 1; done
# The one-pass backward adds in turn across blocks, and its products read what was written, fenced and waited for.
# NEEDS: sanitizer:none build:tests/modules/device_cuda_raced.so
# TIME: 240
==== out
0 wrong, 0 ops without a run
0 wrong, 0 ops without a run
0 wrong, 0 ops without a run
0 wrong, 0 ops without a run
0 wrong, 0 ops without a run
