# RUN: %python %root/tests/gpu/rehearse.py %build %t run --only smoke,kernels,parity,losses,exact,policies,bf16,arena,attention | sed '1,/^libnccl/d'
# The rows of tests/gpu/run that compute go their way on an emulated GPU, and hold.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 600
==== out
smoke held N s 3 steps, loss N, with the graph and without
kernels held N s N ops, N runs; largest share of the allowed error N
parity held N s N runs; largest share of the allowed error N
losses held N s N from the cpu; 2 and 4 ranks N from 1; gpt-text N
exact held N s 1, 2 and 4 ranks: equal losses and weights
policies held N s 4 plans, equal bits; N from the cpu device
bf16 held N s N from PyTorch, whose three kernels differ by N
 1,2,70,16 forward own N TFLOP/s cudnn N TFLOP/s N x apart N
 1,2,70,16 backward own N TFLOP/s cudnn N TFLOP/s N x apart N
attention held N s cuDNN computes it too; largest share of the allowed error N
arena held N s N runs, every one to the byte
9 rows without a fault, 0 failed
