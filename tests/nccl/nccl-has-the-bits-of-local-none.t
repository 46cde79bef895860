# RUN: seq 400 >t.txt; cp %root/tests/nccl/net.fsd .; %python %root/tests/nccl/faked.py same %fsdpc %build %t net.fsd 2 -s shard.strategy=none; %python %root/tests/nccl/faked.py same %fsdpc %build %t net.fsd 4 -s shard.strategy=none -s train.accumulate=2
# Losses and saved weights over the fake NCCL, whatever runs first, are those of transport local.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 120
# WAITS: for ranks in other processes
==== out
nccl: the same bits
another order: the same bits
no graphs: the same bits
no windows: the same bits
no registration: the same bits
all is late: the same bits
from saved weights: the same bits
nccl: the same bits
another order: the same bits
no graphs: the same bits
no windows: the same bits
no registration: the same bits
all is late: the same bits
from saved weights: the same bits
