# RUN: for w in sum_leading iota layer_norm grad_norm "attention_grad 70 260" "attention 130 70 40"; do FSDP_CUDA_ATTENTION=onepass %build/tests/cuda_kernels %build/tests/modules/device_cuda_planted.so "$w" few 2>&1 >/dev/null | grep -v found | sed -E 's/.* of ([a-z_]+): thread .* (reads|writes) ([0-9]+) bytes of (.*) \(([a-z0-9_]*\.).*\): (thread [0-9]+ of block [0-9]+ )?(.*)$/\1 \2 \3 bytes: \7/; s/ \([^)]*\)$//' | sort -u | sed -n 1,2p; done
# A missing barrier, a write behind an operand, a vector that is not aligned, an addition that is not atomic or out of turn, a product of operands that are not fenced, a copy that nobody waits for: each is reported.
# NEEDS: build:tests/modules/device_cuda_planted.so sanitizer:none
# TIME: 240
==== out
sum_leading reads 4 bytes: no thread of the block wrote there
iota writes 4 bytes: that is no operand to do so with
layer_norm reads 16 bytes: that is not aligned to 16 bytes
layer_norm_grad_weight reads 4 bytes: no thread of the block wrote there
grad_norm reads 16 bytes: that is not aligned to 16 bytes
grad_norm reads 8 bytes: wrote it without a barrier in between
attention_grad reads 16 bytes: its writer has no shared_for_products
attention_grad reads 4 bytes: wrote it without a barrier in between
attention reads 2 bytes: a copy that nobody has waited for writes there
attention reads 4 bytes: a copy that nobody has waited for writes there
==== exit 66
