# RUN: %python %root/tests/parity/sharding.py %fsdpc %root/models collectives
# The order of gathers, computation and reductions in a step of GPT-2 is PyTorch's.
# TIME: 120
# NEEDS: sanitizer:none
==== out
28 cases, 0 differ
