# RUN: %fsdpc dump --stage=sched -n 2 -s train.accumulate=3 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s train.accumulate=3 -s shard.accumulate=local %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s train.accumulate=2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# Full, M micro-batches: M(2U - 1) gathers; MU reductions, or U when gradients add up locally.
==== out
first: 7 A 4 R
micro: 7 A 4 R
last: 7 A 4 R 1 M
eval: 4 A 1 M
first: 7 A
micro: 7 A
last: 7 A 4 R 1 M
eval: 4 A 1 M
first: 7 A 4 R
last: 7 A 4 R 1 M
eval: 4 A 1 M
==== err
note[W0403]: accumulate = local keeps 752 bytes of unsharded gradients on every rank; accumulate = sharded needs 376 bytes

