# RUN: r() { %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so experts_linear; }; r | tail -n 1; FSDP_EMULATE_LOST=kernel r | sed -nE 's/^(experts_[a-z_]*) ([0-9 ]*), mixture ([0-9]).*output 0,.*/\1 \2: \3/p'
# In bf16, with results in bf16 or f32, products of experts run on a kernel of matrix instructions, and are right;
# without that kernel these are wrong. Mixture 1 is all bf16; 2 has f32 results.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
==== out
0 wrong, 0 ops without a run
experts_linear 90 64 128: 1
experts_linear 90 64 128: 2
experts_linear_grad_input 90 64 128: 1
experts_linear_grad_input 90 64 128: 2
experts_linear_grad_weight 90 64 128: 1
experts_linear_grad_weight 90 64 128: 2
experts_linear 520 72 136: 1
experts_linear 520 72 136: 2
experts_linear_grad_input 520 72 136: 1
experts_linear_grad_input 520 72 136: 2
experts_linear_grad_weight 520 72 136: 1
experts_linear_grad_weight 520 72 136: 2
==== exit 1
