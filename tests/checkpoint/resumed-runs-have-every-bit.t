# RUN: python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run pieces 11
# A run that ends and goes on, three times, has the weights, states, losses and log of one that did not, with each
# optimizer, with accumulation, dropout, clipping, skipped steps, bf16 and shuffled data.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
adamw: same
sgd: same
sgd without momentum: same
lion: same
adafactor: same
muon: same
adan: same
accumulate: same
bf16: same
skipped steps: same
in order: same
