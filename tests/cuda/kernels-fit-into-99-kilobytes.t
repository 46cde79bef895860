# RUN: for op in "attention 70 40" "attention_grad 70 40" "cross_entropy_both, 120"; do for c in 89 90; do FSDP_EMULATE_CAPABILITY=$c %build/tests/cuda_kernels %build/tests/modules/device_cuda_emulated.so "$op" few | sed -n "/ [1-9][0-9]* runs/s/ *\([0-9]*\) runs.*/ \1/p; \$p"; done; done
# Where a block can have 99 KB of shared memory, wide heads and long rows of logits are computed all the same.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== out
attention 4
0 wrong, 0 ops without a run
attention 4
0 wrong, 0 ops without a run
attention_grad 4
0 wrong, 0 ops without a run
attention_grad 4
0 wrong, 0 ops without a run
cross_entropy_both 6
0 wrong, 0 ops without a run
cross_entropy_both 6
0 wrong, 0 ops without a run
