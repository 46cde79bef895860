# RUN: %python %root/tests/ops/against_torch.py --replay %root/tests/ops/pytorch/losses.txt %fsdpc %fsdp-run
# Losses of one to four terms, with weights, masks, soft targets and preferences: they and their gradients are those that PyTorch computed in doubles.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
losses: 20 cases, 0 wrong
