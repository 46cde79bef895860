# RUN: for m in 1 3; do %fsdpc dump --stage=sched --mesh rep=2,dp=2 -s shard.strategy=states -s train.batch=24 -s train.accumulate=$m %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --counts | grep -v eval; done
# RUN: %fsdpc compile -n 2 -s shard.strategy=states -s train.accumulate=2 -s shard.accumulate=sharded %root/tests/passes/model-t.fsd -o %t/p 2>&1 | grep W0
# Strategy states gathers and reduces each unit once a step, whatever the number of micro-batches; accumulate has no effect there.
==== out
train: 4 A 4 R 4 S 1 M
first: 4 A
micro:
last: 4 R 4 S 1 M
warning[W0302]: strategy = states: accumulate has no effect
