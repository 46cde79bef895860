# RUN: %python %root/tests/ops/against_torch.py --replay %root/tests/ops/pytorch/places.txt %fsdpc %fsdp-run
# Entries of an axis by ids, sums along it, ranges with a step, and rows of padding: loss and gradients are those that PyTorch computed in doubles.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
places: 20 cases, 0 wrong
