# RUN: seq 300 > t.txt; cp %root/tests/checkpoint/toy.fsd .; %fsdpc compile -q toy.fsd -n 4 -s train.batch=8 -o p; for h in node1:x localhost:3 far.example.invalid:4; do %fsdp-run --hosts $h p; echo $?; done; %fsdp-run --hosts localhost:4 --transport local p; echo $?; RANK=0 WORLD_SIZE=4 %fsdp-run --hosts localhost:4 p; echo $?
# A malformed host, hosts with too few slots for the ranks, and a first host that is another machine are mistakes.
==== out
1
1
1
1
1
==== err
error: --hosts node1:x: `node1:x` is not HOST or HOST:RANKS
help: --hosts node1:4,node2:4
error: --hosts localhost:3: the hosts have room for 3 ranks, but the run has 4
help: HOST:RANKS says how many a host takes
error: --hosts far.example.invalid:4: the first host has rank 0 and must be this machine, which far.example.invalid is not
help: name this machine first, or start fsdp-run on far.example.invalid
error: --hosts needs transport mpi, not local
help: fsdp-run --help lists the options
error: --hosts: torchrun started this rank and starts the others
help: leave out --hosts, which is for runs that fsdp-run starts itself
