# RUN: %python %root/tests/ops/against_torch.py --replay %root/tests/ops/pytorch/attention.txt %fsdpc %fsdp-run
# Windows, caps, masks, documents and biases of attention: loss and gradients are those that PyTorch computed in doubles.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
attention: 20 cases, 0 wrong
