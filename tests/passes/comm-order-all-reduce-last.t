# RUN: %fsdpc dump --stage=sched --mesh rep=2,dp=2 -s shard.all_reduce=last -s train.accumulate=2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --memory | sed -n 's/last.*|/|/p'
# The all-reduce of a unit is issued after its last micro-batch was added, and overlaps the next unit's backward.
==== out
| A:u2 B:r X:r A:u1 B:u2 X:u2 R:u2 A:u0 B:u1 X:u1 S:u2 D:u2 R:u1 B:u0 X:u0 S:u1 D:u1 R:u0 B:r S:u0 D:u0 R:r U S:r D:r M
