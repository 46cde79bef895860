# RUN: %root/tests/tcp/hub %build %t; seq 3000 > t.txt; %t/fsdpc compile -q toy.fsd -o p -n 3; %t/fsdpc compile -q toy.fsd -o q -n 2
# RUN: python3 %root/tests/tcp/ports.py bash each.sh %t/fsdp-run 2>&1 | sed -E 's/process [0-9]+ on [^)]*/process/; s/[0-9a-f]{16}/HASH/g'
# A mistake that one or all of the started processes find is printed once, with its exit code.
# NEEDS: build:device_cpu.so build:tests/modules/tcp_hub.so
==== toy.fsd
module Toy { emb : Embedding(128, 8); out : Linear(8, 128); forward(x) = out(emb(x)) }
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 1000000
        optimizer = adamw(lr = 0.01) }
==== each.sh
run="$1 --threads 1 --quiet --steps 3 --transport nccl"
each() { echo "$1"; shift; "$@"; echo "    $?"; }
each "no device" $run --device cpu p
each "no data" $run --device cuda --data train=none.txt p
each "disk full" $run --device cuda --log /dev/full p
each "another count" $run --device cuda -n 2 p
export FSDP_TIMEOUT=20 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1
run="$run --device cuda"
(RANK=0 LOCAL_RANK=0 $run q 2>&1; echo "rank 0: $?") | sort > zero & RANK=1 LOCAL_RANK=1 $run q --steps 2 2>&1; echo "    $?"; wait; cat zero
==== out
no device
error: transport nccl works with device cuda, not cpu
help: use --device cuda; on CPUs --transport mpi or local
    1
no data
error: cannot open data file none.txt: No such file or directory
help: data paths are relative to the working directory; --data train=PATH names another file
    2
disk full
error: rank 0 (process): cannot write the log /dev/full: No space left on device
    2
another count
error: p was compiled for 3 ranks, but -n asks for 2
help: fsdpc compile toy.fsd -o p -n 2
    1
    4
error: rank 1 (process) was started with different options than rank 0
help: --steps, --threads, --load, --save, --dump-grads, --eval-only, --tokens, --checkpoint, --checkpoint-every and --resume must be the same
rank 0: 4
