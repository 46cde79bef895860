# RUN: python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run layouts 12
# A checkpoint goes on with other ranks, strategies, units and layouts: the state is the same to the bit, and at the same
# number of ranks so is all that follows.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
12 pairs: same
