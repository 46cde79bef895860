# RUN: for k in forward_16 backward_16 bias_16; do echo "$k:"; for of in "attention, mask 130" "attention_grad, mask 130" "attention 70 40" "attention_grad 70 40" "attention_biased_grad 130 70"; do FSDP_EMULATE_LOST=$k %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so "$of" halves | sed -nE 's/^(attention.*), mixture ([15]), aligned, .* (output [0-9]),.*/\1, mixture \2: \3/p'; done; done
# In bf16 (mixture 1) and f16 (5) attention with a mask, of wide heads and the gradient of a bias run on kernels of
# matrix instructions: without one of these the results named here are wrong.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
forward_16:
attention, mask 130 70 40, mixture 1: output 0
attention, mask 130 70 40, mixture 1: output 1
attention, mask 130 70 40, mixture 5: output 0
attention, mask 130 70 40, mixture 5: output 1
attention 70 40 256, mixture 1: output 0
attention 70 40 256, mixture 1: output 1
attention 70 40 256, mixture 5: output 0
attention 70 40 256, mixture 5: output 1
backward_16:
attention_grad, mask 130 70 40, mixture 1: output 0
attention_grad, mask 130 70 40, mixture 1: output 1
attention_grad, mask 130 70 40, mixture 1: output 2
attention_grad, mask 130 70 40, mixture 5: output 0
attention_grad, mask 130 70 40, mixture 5: output 1
attention_grad, mask 130 70 40, mixture 5: output 2
attention_grad 70 40 256, mixture 1: output 0
attention_grad 70 40 256, mixture 1: output 1
attention_grad 70 40 256, mixture 1: output 2
attention_grad 70 40 256, mixture 5: output 0
attention_grad 70 40 256, mixture 5: output 1
attention_grad 70 40 256, mixture 5: output 2
attention_biased_grad 130 70 40, mixture 1: output 0
attention_biased_grad 130 70 40, mixture 1: output 1
attention_biased_grad 130 70 40, mixture 1: output 2
attention_biased_grad 130 70 40, mixture 5: output 0
attention_biased_grad 130 70 40, mixture 5: output 1
attention_biased_grad 130 70 40, mixture 5: output 2
bias_16:
attention_biased_grad 130 70 40, mixture 1: output 3
attention_biased_grad 130 70 40, mixture 5: output 3
==== exit 1
