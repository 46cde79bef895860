# RUN: each() { %fsdpc dump --stage=sched --mesh rep=2,dp=2 -s shard.all_reduce=last "$@" %root/tests/passes/model-t.fsd 2>&- | %python %root/tests/passes/order.py --counts | grep -v eval; }; each -s train.accumulate=2; each -s train.accumulate=3 -s shard.strategy=grads; each
# Replicas add up their shards of the gradients once a step: 14 gathers, 8 reductions, 4 all-reduces.
==== out
first: 7 A 4 R
last: 7 A 4 R 4 S 1 M
first: 4 A 4 R
micro: 4 A 4 R
last: 4 A 4 R 4 S 1 M
train: 7 A 4 R 4 S 1 M
