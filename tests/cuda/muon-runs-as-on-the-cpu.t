# RUN: cp %root/tests/runtime/blocks.fsd net.fsd && seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 2 same -s train.steps=4 -s "train.optimizer=muon(lr = 0.02, adamw_lr = 1e-3)"
# RUN: sed s/128/127/ %root/tests/runtime/blocks.fsd > net.fsd && seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 4 same -s train.steps=4 -s "shard.mesh=(dp = 2, tp = 2)" -s "train.optimizer=muon(lr = 0.02, adamw_lr = 1e-3)"
# Muon loses on two ranks of the emulated GPU what it loses on the cpu, in every order; also on four that share out matrices and samples.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 240
==== out
losses as on the cpu
the same bits in every order
losses as on the cpu
the same bits in every order
