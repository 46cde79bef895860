# RUN: seq 3000 > t.txt; cp %root/tests/runtime/toy.fsd toy; sed 's/D = 12/D = 520/' toy > wide; for a in "toy -n 4" "toy -n 4 -s shard.reshard=2" "toy --mesh rep=2,dp=2" "toy -n 3 -s shard.strategy=none" "wide -n 2 -s train.steps=1"; do %fsdpc compile -q -o p $a; for t in local tcp; do %fsdp-run -q --threads 1 --transport $t --save $t p; done; cmp local tcp && echo same; done; %fsdp-run --overlap on --transport tcp -q p; echo $?
# Transport tcp gives the bits of threads, also where groups of ranks gather and reduce apart, and in pieces; one collective is under way at a time.
# NEEDS: build:device_cpu.so build:transport_tcp.so
# WAITS: for ranks in other processes
==== out
same
same
same
same
same
1
==== err
error: --overlap on: transport tcp runs one collective at a time
help: use --transport mpi or local
