# RUN: %fsdpc dump --stage=sched -n 2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 3 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.reshard_root=true %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# Strategy full: 2U - 1 gathers and U reductions a step, 2U gathers where the root is resharded.
==== out
train: 7 A 4 R 1 M
eval: 4 A 1 M
train: 7 A 4 R 1 M
eval: 4 A 1 M
train: 8 A 4 R 1 M
eval: 4 A 1 M
