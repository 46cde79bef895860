# RUN: %python %root/tests/cuda/attended.py %fsdpc %fsdp-run %build . cudnn cudnn:right cudnn:wrong cudnn:unsteady cudnn:partial cudnn:fails cudnn:greedy maybe
# An attention of cuDNN that is wrong, or differs between two runs, is not used, and a note says so.
# NEEDS: build:tests/modules/device_cuda_emulated.so
# TIME: 120
==== out
cudnn: exit code 2
    error: FSDP_CUDA_ATTENTION=cudnn: the emulated GPU has no cuDNN
cudnn:right: losses within 1e-2, other bits
cudnn:wrong: the losses of the own kernels
    attention [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs from ours in row 2
    attention backward [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs from ours in row 0
cudnn:unsteady: the losses of the own kernels
    attention [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs between two runs
    attention backward [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs between two runs
cudnn:partial: the losses of the own kernels
    attention [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs from ours in row 95
    attention backward [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: its result 0 differs from ours in row 283
cudnn:fails: the losses of the own kernels
    attention [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: attention: an error: this library never runs anything
    attention backward [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: attention: an error: this library never runs anything
cudnn:greedy: the losses of the own kernels
    attention [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: engine 1 needs 1099511627776 bytes of scratch, the workspace has 768
    attention backward [2, 24, 2, 16]: using fsdp-run's kernels instead of cuDNN: engine 1 needs 1099511627776 bytes of scratch, the workspace has 66304
maybe: exit code 2
    error: FSDP_CUDA_ATTENTION=maybe: choose own, onepass, cudnn or auto, or leave it unset
0 forms are kept
