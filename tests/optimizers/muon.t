# RUN: for n in 1 2 3 4; do %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n $n --matrices h.0.a.weight,h.0.b.weight,h.1.a.weight,h.1.b.weight --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias %root/tests/optimizers/net.fsd 'muon(lr = 0.02, adamw_lr = 1e-3)' 'train.schedule=rsqrt(warmup = 2)'; done
# RUN: %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 6 --limit 0.5 --matrices h.0.a.weight,h.0.b.weight,h.1.a.weight,h.1.b.weight --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias %root/tests/optimizers/net.fsd 'muon(lr = 1e-3, nesterov = false, momentum = 0.4, ns_steps = 3, adjust_lr = match_rms_adamw)' train.clip=0.5 'shard.mesh=(rep = 2, dp = 3)'
# Muon makes the steps of PyTorch's, AdamW those of the rest.
# NEEDS: build:device_cpu.so sanitizer:none
==== out
muon on 1 ranks: 4 steps as published
muon on 2 ranks: 4 steps as published
muon on 3 ranks: 4 steps as published
muon on 4 ranks: 4 steps as published
muon on 6 ranks: 4 steps as published
