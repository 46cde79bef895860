# RUN: %fsdpc dump --stage=sched -n 2 -s 'shard.prefetch=(forward = 0, backward = 1)' -s shard.reshard_root=true %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py
# With reshard_root the root is gathered first in backward.
==== out
train: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r | A:r A:u2 B:r A:u1 B:u2 R:u2 A:u0 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
eval: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r M
