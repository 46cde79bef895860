# RUN: for w in attention_grad attention_packed_grad; do FSDP_CUDA_ATTENTION=onepass %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so $w bf16 | tail -n 1; done
# RUN: FSDP_EMULATE_LOST=onepass FSDP_CUDA_ATTENTION=onepass %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so attention_grad bf16 | sed -nE 's/, mixture.*output ([0-9]).*/: \1/p'
# The one-pass backward computes attention for both widths, causal and not, and runs where it fits.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
0 wrong, 0 ops without a run
0 wrong, 0 ops without a run
attention_grad 150 150 128: 0
attention_grad 150 150 128: 1
attention_grad 150 150 128: 2
attention_grad 70 260 64: 0
attention_grad 70 260 64: 1
attention_grad 70 260 64: 2
attention_grad 135 135 64: 0
attention_grad 135 135 64: 1
attention_grad 135 135 64: 2
attention_grad 20 140 64: 0
attention_grad 20 140 64: 1
attention_grad 20 140 64: 2
attention_grad 70 130 128: 0
attention_grad 70 130 128: 1
attention_grad 70 130 128: 2
attention_grad 135 135 128: 0
attention_grad 135 135 128: 1
attention_grad 135 135 128: 2
==== exit 1
