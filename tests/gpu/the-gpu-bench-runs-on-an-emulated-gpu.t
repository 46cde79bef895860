# RUN: %python %root/tests/gpu/rehearse.py %build %t bench --sizes 124M --peers compile | sed -E '1,/^libnccl/d; s/^(124M product).*/\1/; s/^[a-z_]+ .*N 0 N N$/an op/' | uniq
# tests/gpu/bench times, profiles and compares on an emulated GPU.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 600
==== out
shares are of N TFLOP/s
 124M ours: N ms
 124M compile: N ms
 124M ours: N ms
124M ours N ms N tokens/s N % N GiB
124M compile N ms N tokens/s N % N GiB ours N x
124M: N ms in N instructions, at the card's rates N ms
op module n ms % TFLOP/s GB/s least ms ratio
an op
124M product
124M attention forward ours N us torch: flash N us
124M attention backward ours N us torch: flash N us
