# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=2 -s shard.inflight=3 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py
# prefetch = 2: two units ahead in both directions.
==== out
train: A:r A:u0 A:u1 F:r A:u2 F:u0 F:u1 F:u2 F:r | A:u2 A:u1 B:r A:u0 B:u2 R:u2 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
eval: A:r A:u0 A:u1 F:r A:u2 F:u0 F:u1 F:u2 F:r M
