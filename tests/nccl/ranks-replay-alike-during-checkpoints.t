# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; %fsdpc compile -q net.fsd -s train.steps=12 -o p -n 2; for k in 1 2; do FSDP_EMULATE_GPUS=2 %build/emulated/run/fsdp-run -n 2 --device cuda --transport nccl --threads 1 --checkpoint ck$k --checkpoint-every $k p 2>&1 | grep "^last loss\|fake"; done
# While a checkpoint is written, all ranks issue the step's collectives from a graph, or none does: NCCL does not let them differ.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 60
# WAITS: for ranks in other processes
==== out
last loss       3.66179
last loss       3.66179
