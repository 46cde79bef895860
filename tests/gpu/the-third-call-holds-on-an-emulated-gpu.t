# RUN: %python %root/tests/gpu/rehearse.py %build %t third 3 | sed -E 's/^(124M product|xl product).*/\1/; s/^[a-z_]+ .*N [0-9]+ N N$/an op/' | uniq
# The third of the three calls on a GPU machine: the large model, NCCL, races.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 600
==== out
== bench --sizes xl --parts speed,profile --peers compile
shares are of N TFLOP/s
 xl ours: N ms
 xl compile: N ms
 xl ours: N ms
xl ours N ms N tokens/s N % N GiB
xl compile N ms N tokens/s N % N GiB ours N x
xl: N ms in N instructions, at the card's rates N ms
op module n ms % TFLOP/s GB/s least ms ratio
an op
== run --only nccl
nccl held N s 6 plans, on one GPU: 2 ranks equal bits, 4 ranks N from local; a killed rank ends all in N s; NCCL: 2 communicators, arena offered as a symmetric window
1 rows without a fault, 0 failed
== run --only measure,racecheck
measure held N s N shapes, mean error N %, of those held back N %; products bf16 N TFLOP/s, f32 N TFLOP/s
racecheck held N s N ops
2 rows without a fault, 0 failed
