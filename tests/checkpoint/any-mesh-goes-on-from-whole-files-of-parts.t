# RUN: FORM=full python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run cuts 8
# In form full, ranks along tp write their parts of transposed and joined tensors too, and any mesh goes on from these files.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 240
==== out
8 pairs: same
