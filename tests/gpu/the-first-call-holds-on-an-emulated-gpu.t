# RUN: %python %root/tests/gpu/rehearse.py %build %t third 1 | sed -E 's/^(124M product|xl product).*/\1/; s/^[a-z_]+ .*N [0-9]+ N N$/an op/' | uniq
# The first of the three calls on a GPU machine: is it right, and where does the time go.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 600
==== out
== run --only smoke,kernels,parity,losses,watch,exact,arena
smoke held N s 3 steps, loss N, with the graph and without
kernels held N s N ops, N runs; largest share of the allowed error N
parity held N s N runs; largest share of the allowed error N
losses held N s N from the cpu; 2 and 4 ranks N from 1; gpt-text N
watch held N s a step: N launches N graphs; N launches N graphs; N launches N graphs
exact held N s 1, 2 and 4 ranks: equal losses and weights
arena held N s N runs, every one to the byte
7 rows without a fault, 0 failed
== bench --sizes 124M --parts profile,micro
shares are of N TFLOP/s
124M: N ms in N instructions, at the card's rates N ms
op module n ms % TFLOP/s GB/s least ms ratio
an op
124M product
124M attention forward ours N us torch: flash N us
124M attention backward ours N us torch: flash N us
