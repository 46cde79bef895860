# RUN: %python %root/tests/parity/parity.py %fsdpc %fsdp-run gpt2-tiny-wrap -n 2
# Case gpt2-tiny-wrap trains to the numbers that PyTorch computed.
# TIME: 120
# NEEDS: build:device_cpu.so
==== out
gpt2-tiny-wrap on 2 ranks: as PyTorch
