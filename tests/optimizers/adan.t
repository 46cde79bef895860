# RUN: %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 1 --tolerance 1e-6 --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias %root/tests/optimizers/net.fsd 'adan(lr = 1e-3, weight_decay = 0.1)' 'train.schedule=wsd(warmup = 1, decay = 2)'
# RUN: %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 3 --tolerance 1e-6 --limit 0.5 %root/tests/optimizers/net.fsd 'adan(lr = 1e-3, betas = (0.9, 0.8, 0.95), eps = 1e-6)' train.clip=0.5 'train.schedule=rsqrt(warmup = 2)'
# RUN: run() { %fsdp-run -q --threads 1 --save "$@" p; }; for s in train.precision=f32 train.precision=bf16; do %fsdpc compile -q -n 3 -s 'train.optimizer=adan(lr = 1e-2)' -s $s %root/tests/optimizers/net.fsd -o p && run a.safetensors && run b.safetensors --checkpoint ck --checkpoint-every 1 --steps 2 && run b.safetensors --resume ck && cmp a.safetensors b.safetensors && echo same; rm -rf ck; done
# Adan makes the steps of its publication, clipping and decay included, to a millionth of a step; a resumed run has every bit.
# NEEDS: build:device_cpu.so sanitizer:none
==== out
adan on 1 ranks: 4 steps as published
adan on 3 ranks: 4 steps as published
same
same
