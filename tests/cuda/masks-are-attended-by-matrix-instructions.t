# RUN: for k in forward_16 keys_16 queries_16; do echo "$k:"; for of in ", mask" ", window 2" ", cap" ", documents 1" _biased; do FSDP_EMULATE_LOST=$k %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so "attention$([ $k = forward_16 ] || [ "$of" = _biased ] || echo _grad)$of" few | sed -nE 's/^(attention.* [0-9]+ [0-9]+ [0-9]+), mixture 1, aligned, .*/\1/p'; done | sort -u; done
# In bf16 attention with a mask, a window, a cap, documents or a bias runs on kernels of matrix instructions up to
# width 128: without one of these the results named here are wrong.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
forward_16:
attention, cap 70 97 72
attention, documents 150 150 40
attention, mask 130 70 40
attention, mask 70 130 16
attention, mask 70 150 128
attention, window 270 270 40
attention_biased 0 130 270 24
attention_biased 0 130 70 40
attention_biased 1 130 130 40
attention_biased 1 270 150 40
attention_biased 1 3 9 24
attention_biased 1 70 130 16
keys_16:
attention_biased_grad 0 130 270 24
attention_biased_grad 0 130 70 40
attention_biased_grad 1 130 130 40
attention_biased_grad 1 270 150 40
attention_biased_grad 1 3 9 24
attention_biased_grad 1 70 130 16
attention_grad, cap 70 97 72
attention_grad, documents 150 150 40
attention_grad, mask 130 70 40
attention_grad, mask 70 130 16
attention_grad, mask 70 150 128
attention_grad, window 270 270 40
queries_16:
attention_biased_grad 0 130 270 24
attention_biased_grad 0 130 70 40
attention_biased_grad 1 130 130 40
attention_biased_grad 1 270 150 40
attention_biased_grad 1 3 9 24
attention_biased_grad 1 70 130 16
attention_grad, cap 70 97 72
attention_grad, documents 150 150 40
attention_grad, mask 130 70 40
attention_grad, mask 70 130 16
attention_grad, mask 70 150 128
attention_grad, window 270 270 40
==== exit 1
