# RUN: %python %root/tests/cuda/raced.py %fsdpc %fsdp-run %build %t 1 "1:2:bf16(master = f32)" 2:2 "4:1:bf16(master = f32)"
# In whole steps of one, two and four ranks no kernel races or leaves its operands.
# NEEDS: build:tests/modules/device_cuda_raced.so sanitizer:none
# TIME: 240
==== out
1 ranks, order 1, f32: nothing found
1 ranks, order 2, bf16(master = f32): nothing found
2 ranks, order 2, f32: nothing found
4 ranks, order 1, bf16(master = f32): nothing found
