# RUN: %python %root/tests/ops/against_torch.py --replay %root/tests/ops/pytorch/more_attention.txt %fsdpc %fsdp-run
# Sinks and biases of samples in attention: loss and gradients are those that PyTorch computed in doubles.
# TIME: 60
# NEEDS: build:device_cpu.so
==== out
more_attention: 20 cases, 0 wrong
