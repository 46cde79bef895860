# RUN: %python %root/tests/parity/ranks.py %fsdpc %fsdp-run exact 2>/dev/null
# Where the arithmetic is exact, 1, 2, 3, 4 and 8 ranks give the same bits.
# TIME: 240
==== out
exact: held
