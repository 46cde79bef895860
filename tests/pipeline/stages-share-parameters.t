# RUN: %python %root/tests/pipeline/same_bits.py %fsdpc %fsdp-run %root/tests/pipeline/tied.fsd 2> seen
# Tied embeddings and layers that several stages read: each stage has a copy, whose gradients are added up before the
# update, so losses and norms are those of one stage within rounding, under every strategy.
# NEEDS: sanitizer:none
# TIME: 120
==== out
48 runs
