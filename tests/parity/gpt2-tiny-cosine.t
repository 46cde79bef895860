# RUN: %python %root/tests/parity/parity.py %fsdpc %fsdp-run gpt2-tiny-cosine -n 2
# Case gpt2-tiny-cosine trains to the numbers that PyTorch computed.
# TIME: 120
# NEEDS: build:device_cpu.so
==== out
gpt2-tiny-cosine on 2 ranks: as PyTorch
