# RUN: each() { %fsdpc dump --stage=sched -n 2 "$@" %root/tests/passes/model-t.fsd 2>&- | %python %root/tests/passes/order.py --counts | grep -v eval; }; each -s train.accumulate=3 -s shard.accumulate=local -s shard.hold=true; each -s train.accumulate=3 -s shard.hold=true -s shard.reshard_root=true; each -s train.accumulate=2 -s shard.strategy=grads -s shard.accumulate=local -s shard.hold=false; each -s train.accumulate=2 -s shard.strategy=grads -s shard.hold=true
# Units that are held are not gathered again for forward: (2U - 1) + (M - 1)(U - 1) gathers. Strategy grads holds them with accumulate = local, unless hold = false.
==== out
first: 7 A
micro: 3 A
last: 3 A 4 R 1 M
first: 8 A 4 R
micro: 4 A 4 R
last: 4 A 4 R 1 M
first: 4 A
last: 4 A 4 R 1 M
first: 4 A 4 R
last: 4 R 1 M
