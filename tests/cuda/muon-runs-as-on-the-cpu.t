# RUN: sed "s/12, 20/16, 24/; s/20, 12/24, 16/; s/128, 12)/128, 16)/; s/(12, 128/(16, 128/" %root/tests/runtime/blocks.fsd > net.fsd && seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 2 same -s train.steps=4 -s "train.optimizer=muon(lr = 0.02, adamw_lr = 1e-3)"
# RUN: sed s/128/127/ %root/tests/runtime/blocks.fsd > net.fsd && seq 300 > t.txt; %python %root/tests/cuda/emulated.py %fsdpc %fsdp-run %build %t net.fsd 4 same -s train.steps=4 -s "shard.mesh=(dp = 2, tp = 2)" -s "train.optimizer=muon(lr = 0.02, adamw_lr = 1e-3)"
# Muon loses on two ranks of the emulated GPU what it loses on the cpu, in every order, by products of bf16;
# also on four that share out matrices and samples, by products of f32, since sizes are not multiples of 8.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 240
==== out
losses as on the cpu
the same bits in every order
losses as on the cpu
the same bits in every order
