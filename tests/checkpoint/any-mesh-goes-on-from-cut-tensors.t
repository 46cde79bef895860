# RUN: python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run cuts 12
# A checkpoint of a mesh whose ranks along tp have parts of tensors goes on under any other mesh, and one of any other mesh
# under such a mesh: weights and states are the same to the bit, and losses stay within 1e-6.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 240
==== out
12 pairs: same
