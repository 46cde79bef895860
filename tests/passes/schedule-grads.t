# RUN: %fsdpc dump --stage=sched -n 2 -s 'shard.prefetch=(forward = 0, backward = 1)' -s shard.strategy=grads %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py
# Strategy grads gathers nothing in backward.
==== out
train: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r | B:r B:u2 R:u2 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
eval: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r M
