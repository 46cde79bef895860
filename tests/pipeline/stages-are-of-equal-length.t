# RUN: %python %root/tests/pipeline/balance.py %fsdpc
# Each unit is in one stage, 30 layers over 4 stages and 126 over 16, and the slowest stage takes at most 3 % longer than
# that of the best contiguous cut, where two units take longer than the others, too.
==== out
32 units, 4 stages: 6 10 10 6, 0.4 % longer than the best cut
128 units, 16 stages: 5 8 8 8 8 8 8 9 9 9 9 9 9 8 8 5, 0.5 % longer than the best cut
8 units, 8 stages: 1 1 1 1 1 1 1 1, 2.0 % longer than the best cut
32 units, 8 stages: 1 5 5 5 5 5 5 1, 0.8 % longer than the best cut
