# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 -s shard.inflight=1 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --live
# RUN: %fsdpc dump --stage=sched -n 2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --live
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=2 -s shard.inflight=3 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --live
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=1 -s shard.inflight=4 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --live
# At most prefetch + 1 units besides the root are gathered at once, one with prefetch = 0.
==== out
train: 1 alive
eval: 1 alive
train: 2 alive
eval: 2 alive
train: 3 alive
eval: 3 alive
train: 2 alive
eval: 2 alive
