# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; %fsdpc compile -q net.fsd -s train.steps=4 -o p -n 4; r="%build/emulated/run/fsdp-run -n 4 --device cuda --threads 1"; FSDP_EMULATE_GPUS=4 $r p 2>&1 | grep "device cuda\|launcher\|NCCL"; echo; FSDP_EMULATE_GPUS=3 $r p 2>&1 | grep "^device cuda"; FSDP_FAKE_WINDOWS=0 FSDP_EMULATE_GPUS=4 $r p 2>&1 | grep NCCL
# With a GPU for each rank fsdp-run starts processes, which say how they go; with fewer, threads.
# NEEDS: build:emulated/run/transport_nccl.so
==== out
device cuda, transport nccl, 4 ranks of 1 thread
launcher fsdp-run: rank 0 of 4, local rank 0 of 4
NCCL 2.28.9: 3 communicators, arena offered as a symmetric window

device cuda, transport local, 4 ranks of 1 thread
NCCL 2.28.9: 3 communicators, arena offered as a registered buffer
