# RUN: %python %root/tests/parity/fused.py %fsdpc %fsdp-run %build/tests/modules/without gpt2,six-layers,formulas
# NEEDS: sanitizer:none
# Losses, norms and trained weights have the same bits without any of the passes that fuse or pad, and without each.
# TIME: 240
==== out
96 runs, 0 with other bits
