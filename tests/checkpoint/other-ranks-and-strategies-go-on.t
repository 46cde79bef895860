# RUN: python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run layouts 12
# A checkpoint goes on with other ranks, strategies, units and layouts: weights and states are the same to the bit; at the
# same number of ranks so is all that follows, at another one losses stay within 1e-6.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 240
==== out
12 pairs: same
