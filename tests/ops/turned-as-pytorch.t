# RUN: %python %root/tests/ops/against_torch.py --replay %root/tests/ops/pytorch/turned.txt %fsdpc %fsdp-run
# Rotations by positions that are given: loss and gradients are those that PyTorch computed in doubles.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
turned: 20 cases, 0 wrong
