# RUN: %python %root/tests/parity/fused.py %fsdpc %fsdp-run %build/tests/modules/without rows
# NEEDS: sanitizer:none
# Losses, norms and trained weights have the same bits where sums, means and extremes of rows are no steps of a formula.
# TIME: 240
==== out
32 runs, 0 with other bits
