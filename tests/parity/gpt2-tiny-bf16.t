# RUN: %python %root/tests/parity/parity.py %fsdpc %fsdp-run gpt2-tiny-bf16 -n 2
# Case gpt2-tiny-bf16 trains to the numbers that PyTorch computed.
# TIME: 120
# NEEDS: build:device_cpu.so
==== out
gpt2-tiny-bf16 on 2 ranks: as PyTorch
