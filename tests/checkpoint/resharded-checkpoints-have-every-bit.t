# RUN: python3 %root/tests/checkpoint/tools.py %fsdpc %fsdp-run reshard 10
# A checkpoint of any strategy is written for other numbers of ranks and for plans: weights, states and settings stay,
# and the files for a plan are those that its own run writes.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
10 pairs: same
