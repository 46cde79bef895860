# RUN: %python %root/tests/ops/against_torch.py --replay %root/tests/ops/pytorch/rounding.txt %fsdpc %fsdp-run
# floor, ceil and %: loss and gradients are those that PyTorch computed in doubles.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
rounding: 20 cases, 0 wrong
