# RUN: %python %root/tests/pipeline/same_bits.py %fsdpc %fsdp-run
# One stage and two, three or four have the same losses, norms and metrics, under every strategy, in every order of
# micro-batches, with dropout, clipping, recomputation, offload, Muon, Adafactor and quantized gathers.
# NEEDS: sanitizer:none
# TIME: 240
==== out
72 runs
