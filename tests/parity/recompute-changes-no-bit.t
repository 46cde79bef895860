# RUN: %python %root/tests/parity/recompute.py %fsdpc %fsdp-run gpt2,six-layers,mlp
# Losses, norms, trained weights and collectives are the same with recomputation by any class and op.
# TIME: 400
# NEEDS: sanitizer:none build:device_cpu.so
==== out
56 runs, 0 differ
