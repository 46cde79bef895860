# RUN: %fsdpc dump --stage=sched -n 2 -s shard.strategy=grads %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.reshard=false %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.strategy=grads -s train.accumulate=3 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.strategy=grads -s train.accumulate=3 -s shard.accumulate=local %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.reshard=false -s train.accumulate=3 -s shard.accumulate=local %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts
# Grads, and full without reshard: U gathers and reductions a micro-batch; local: grads gathers once a step.
==== out
train: 4 A 4 R 1 M
eval: 4 A 1 M
train: 4 A 4 R 1 M
eval: 4 A 1 M
first: 4 A 4 R
micro: 4 A 4 R
last: 4 A 4 R 1 M
eval: 4 A 1 M
first: 4 A
micro:
last: 4 R 1 M
eval: 4 A 1 M
first: 4 A
micro: 4 A
last: 4 A 4 R 1 M
eval: 4 A 1 M
==== err
note[W0403]: accumulate = local keeps 752 bytes of unsharded gradients on every rank; accumulate = sharded needs 376 bytes

note[W0403]: accumulate = local keeps 752 bytes of unsharded gradients on every rank; accumulate = sharded needs 376 bytes

