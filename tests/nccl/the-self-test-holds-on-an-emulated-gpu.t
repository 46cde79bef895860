# RUN: export FSDP_TEST_SMALLEST=1 OMP_NUM_THREADS=1; cd %build/emulated/run; ./fsdp-run --device cuda --self-test --only add,linear,sums_over_ranks,attention_grad/onepass,attention/cudnn,steps/f32,ranks | sed -E '1,/^self-test/d; s/[0-9]+\.[0-9]+(e-?[0-9]+)?|[0-9]e-[0-9]+/N/g; s/N of N/N/; s/ +/ /g'; ./fsdp-run --device cuda --self-test --only add,sub --quiet; echo "exit $?"
# The device is compared with the CPU's kernels and steps, alone and on two ranks, without a plan.
# NEEDS: build:emulated/run/transport_nccl.so build:emulated/run/kernel_compare sanitizer:none
# TIME: 120
==== out
add passed 2 runs N of the allowed error
linear passed 2 runs N of the allowed error
attention/cudnn skipped error: FSDP_CUDA_ATTENTION=cudnn: the emulated GPU has no cuDNN
attention_grad/onepass passed 2 runs N of the allowed error (N)
sums_over_ranks passed 40 runs equal bits
steps/f32 passed 3 steps, loss N; relative difference of losses N, of gradients' norms N, N allowed
ranks/2 passed 3 steps, loss N; relative difference of losses N, of gradients' norms N, N allowed
6 passed, 0 failed, 1 skipped
2 passed, 0 failed, 0 skipped
exit 0
