# RUN: %fsdpc dump --stage=sched -n 2 -s train.accumulate=3 -s shard.accumulate=local %root/tests/passes/model-t.fsd 2> /dev/null | %python %root/tests/passes/order.py
# With accumulate = local only the last micro-batch reduces; the order of gathers stays.
==== out
first: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r | A:u2 B:r A:u1 B:u2 A:u0 B:u1 B:u0 B:r
micro: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r | A:u2 B:r A:u1 B:u2 A:u0 B:u1 B:u0 B:r
last: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r | A:u2 B:r A:u1 B:u2 R:u2 A:u0 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
eval: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r M
