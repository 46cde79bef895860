# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; for n in 2 4; do mkdir %t/$n; %python %root/tests/nccl/faked.py planned %fsdpc %build %t/$n net.fsd $n -s train.eval_every=1; done
# RUN: %python %root/tests/nccl/faked.py planned %fsdpc %build %t net.fsd 2 -s train.eval_every=1 -s train.precision=bf16
# What ranks ask of NCCL and CUDA is what the plan says; one call less, or two swapped, is noticed.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
==== out
program train: 2 calls as planned, 1 graphs
program eval: 2 calls as planned, 1 graphs
collectives taken out: 28 of 28 noticed
other calls taken out: 99 of 99 noticed
neighbours swapped: 26 of 26 noticed
program train: 2 calls as planned, 1 graphs
program eval: 2 calls as planned, 1 graphs
collectives taken out: 28 of 28 noticed
other calls taken out: 99 of 99 noticed
neighbours swapped: 26 of 26 noticed
program train: 2 calls as planned, 1 graphs
program eval: 2 calls as planned, 1 graphs
collectives taken out: 28 of 28 noticed
other calls taken out: 99 of 99 noticed
neighbours swapped: 26 of 26 noticed
