# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; %fsdpc compile -q net.fsd -s train.steps=2 -o p -n 4; export FSDP_EMULATE_GPUS=4 FSDP_FAKE_BUFFERS=1000000; r="%build/emulated/run/fsdp-run -n 4 --device cuda --threads 1"; $r p 2>&1 | sed -nE "s/^(device bytes +300)[0-9]{4} /\1.... /; s/^(device|nccl) bytes +/\1: /p"; FSDP_EMULATE_MEMORY=35000000 $r p 2>&1 | sed -nE "s/^error: .*: the plan/the plan/p"
# What NCCL takes is told apart from context and other libraries, in the summary and where it leaves too little.
# NEEDS: build:emulated/run/transport_nccl.so
==== out
device: 300.... for context and libraries besides the arena
nccl: 3000000 of them
the plan needs an arena of 33609472 bytes per rank, the GPU has 31998792 bytes free; NCCL took 3000000 before
==== exit 2
