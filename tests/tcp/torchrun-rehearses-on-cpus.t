# RUN: seq 3000 > t.txt; %fsdpc compile -q -s train.steps=3 %root/tests/runtime/toy.fsd -o p -n 2; %fsdpc compile -q -s train.steps=3 %root/tests/runtime/toy.fsd -o p4 -n 4; python3 %root/tests/tcp/ports.py bash each.sh %fsdp-run
# What torchrun sets lets ranks train on CPUs, over TCP, with the bits of threads; one exit code and one message where a rank lacks its data. Each process runs one rank: -n 2 in each is refused.
# NEEDS: build:device_cpu.so build:transport_tcp.so
# WAITS: for ranks in other processes
==== each.sh
export WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=1 TORCHELASTIC_RUN_ID=none
ranks() { for r in 0 1; do RANK=$r LOCAL_RANK=$r "$@" 2> err$r & done; wait %1; echo $?; wait %2; echo $?; }
ranks $1 --threads 1 --device cpu --save a p | grep -x "[0-9]*"
grep -h -e ^device -e ^launcher -e ^error err0 err1
env -u WORLD_SIZE $1 --threads 1 -q --transport local p --save b; cmp a b && echo same
ranks $1 -q --threads 1 --data train=none.txt p; cat err0 err1
ranks $1 -q -n 2 p4; cat err0 err1
==== out
0
0
device cpu, transport tcp, 2 ranks of 1 thread
launcher torchrun: rank 0 of 2, local rank 0 of 2
same
2
2
error: cannot open data file none.txt: No such file or directory
help: data paths are relative to the working directory; --data train=PATH names another file
1
1
error: two launchers at once: -n 2, and torchrun, which started 2 processes
help: leave out -n, and let torchrun start one process per rank of the plan
error: two launchers at once: -n 2, and torchrun, which started 2 processes
help: leave out -n, and let torchrun start one process per rank of the plan
