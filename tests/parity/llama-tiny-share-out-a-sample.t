# RUN: %python %root/tests/parity/parity.py %fsdpc %fsdp-run llama-tiny --mesh tp=2 --mesh cp=2 --mesh dp=2,tp=2,cp=2
# Case llama-tiny trains to the numbers that PyTorch computed where ranks share out heads, widths and positions.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== out
llama-tiny on tp=2: as PyTorch
llama-tiny on cp=2: as PyTorch
llama-tiny on dp=2,tp=2,cp=2: as PyTorch
