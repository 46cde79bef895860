# RUN: %python %root/tests/parity/fused.py %fsdpc %fsdp-run %build/tests/modules/without parts,1,2,3,4,5,6,7,8,9,10,11,12
# NEEDS: sanitizer:none
# Losses, norms and trained weights have the same bits where slices, splits and concatenations are no steps of a formula.
# TIME: 240
==== out
56 runs, 0 with other bits
