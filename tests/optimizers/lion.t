# RUN: %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 1 --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias %root/tests/optimizers/net.fsd 'lion(lr = 1e-3, weight_decay = 0.1)' 'train.schedule=wsd(warmup = 1, decay = 2)'
# RUN: %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 3 --limit 0.5 --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias %root/tests/optimizers/net.fsd 'lion(lr = 1e-3, betas = (0.8, 0.9))' train.clip=0.5 'train.schedule=rsqrt(warmup = 2)'
# Lion makes the steps of its publication, decay and clipping included; the largest error measured is 2.3e-6 of a step.
# NEEDS: build:device_cpu.so
==== out
lion on 1 ranks: 4 steps as published
lion on 3 ranks: 4 steps as published
