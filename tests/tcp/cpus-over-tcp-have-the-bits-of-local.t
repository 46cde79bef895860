# RUN: seq 3000 > t.txt; for a in "-n 4" "-n 4 -s shard.reshard=2" "--mesh rep=2,dp=2" "-n 3 -s shard.strategy=none"; do %fsdpc compile -q -s train.steps=3 %root/tests/runtime/toy.fsd -o p $a; for t in local tcp; do %fsdp-run -q --threads 1 --transport $t --save $t p; done; cmp local tcp && echo same; done; %fsdp-run --overlap on --transport tcp -q p; echo $?
# Transport tcp gives the bits of threads, also where groups of ranks gather and reduce apart; one collective is under way at a time.
# NEEDS: build:device_cpu.so build:transport_tcp.so
# WAITS: for ranks in other processes
==== out
same
same
same
same
1
==== err
error: --overlap on: transport tcp runs one collective at a time
help: use --transport mpi or local
