# RUN: %python %root/tests/backend/zero.py %fsdpc memory
# 7.5 billion parameters on 64 ranks keep what the paper on ZeRO says, to its digits.
==== out
none: 120.0 GB
states: 31.40625 GB
grads: 16.640625 GB
full: 1.875 GB
