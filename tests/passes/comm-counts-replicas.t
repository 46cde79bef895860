# RUN: each() { %fsdpc dump --stage=sched "$@" %root/tests/passes/model-t.fsd 2>&- | %python %root/tests/passes/order.py --counts | grep -v eval; }; each --mesh rep=2,dp=2; each --mesh dp=2,rep=3 -s shard.strategy=grads; each --mesh rep=2,dp=2 -s shard.strategy=none; each --mesh rep=4,dp=1; each --mesh rep=2,dp=2 -s train.accumulate=2; each --mesh rep=2,dp=2 -s train.accumulate=2 -s shard.accumulate=local
# On replicas of shards each reduction is followed by an all-reduce of the shard; gathers and reductions are those of the strategy, in groups of dp.
==== out
train: 7 A 4 R 4 S 1 M
train: 4 A 4 R 4 S 1 M
train: 8 S 1 M
train: 4 S 1 M
first: 7 A 4 R 4 S
last: 7 A 4 R 4 S 1 M
first: 7 A
last: 7 A 4 R 4 S 1 M
