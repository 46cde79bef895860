# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py
# prefetch = 0: each gather right in front of its own computation.
==== out
train: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r | B:r A:u2 B:u2 R:u2 A:u1 B:u1 R:u1 A:u0 B:u0 R:u0 B:r R:r U M
eval: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r M
