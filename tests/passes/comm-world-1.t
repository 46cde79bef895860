# RUN: %fsdpc dump --stage=sched -n 1 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --memory
# RUN: %fsdpc dump --stage=sched -n 1 -s train.accumulate=3 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --memory
# RUN: %fsdpc dump --stage=sched -n 1 -s shard.reshard_root=true %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --memory
# One rank has no collective, no reshard and no free.
==== out
train: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 B:u0 B:r U
eval: F:r F:u0 F:u1 F:u2 F:r
first: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 B:u0 B:r
micro: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 B:u0 B:r
last: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 B:u0 B:r U
eval: F:r F:u0 F:u1 F:u2 F:r
train: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 B:u0 B:r U
eval: F:r F:u0 F:u1 F:u2 F:r
