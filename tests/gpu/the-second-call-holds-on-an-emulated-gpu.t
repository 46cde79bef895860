# RUN: %python %root/tests/gpu/rehearse.py %build %t third 2 | sed -E 's/^(124M product|xl product).*/\1/; s/^[a-z_]+ .*N [0-9]+ N N$/an op/' | uniq
# The second of the three calls on a GPU machine: speed compared with torch.compile, tuning, bf16.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 600
==== out
== bench --sizes 124M --parts speed --peers compile,eager
shares are of N TFLOP/s
 124M ours: N ms
 124M compile: N ms
 124M ours: N ms
 124M eager: N ms
 124M ours: N ms
124M ours N ms N tokens/s N % N GiB
124M compile N ms N tokens/s N % N GiB ours N x
124M eager N ms N tokens/s N % N GiB ours N x
== run --only tuned,attention,graph,bf16,policies,memcheck
tuned held N s N products; equal bits from the file; N from plain; a run of N s, with the file N s
graph held N s graph N ms (+-N %); early N ms (+-N %); direct N ms (+-N %); 4x64 tokens: N and N ms
policies held N s 4 plans, equal bits; N from the cpu device
bf16 held N s N from PyTorch in f64; its 4 kernels in bf16 are N to N away
 1,2,70,16 forward own N TFLOP/s cudnn N TFLOP/s N x apart N
 1,2,70,16 backward own N TFLOP/s cudnn N TFLOP/s N x apart N
 one pass: largest share of the allowed error N
attention held N s cuDNN computes it too; largest share of the allowed error N
memcheck held N s N ops
6 rows without a fault, 0 failed
