# RUN: %python %root/tests/parity/sharding.py %fsdpc %root/models wrap
# Units of GPT-2 by class and by size are those of PyTorch, except for tied parameters.
# TIME: 120
# NEEDS: sanitizer:none
==== out
20 cases, 0 differ
