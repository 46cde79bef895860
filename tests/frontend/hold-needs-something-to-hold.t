# RUN: compile() { %fsdpc compile -q -n 2 "$@" %root/tests/passes/model-t.fsd -o %t/p 2>&1 | grep error; }; compile -s shard.hold=true; compile -s shard.hold=true -s shard.reshard=false; compile -s shard.hold=true -s train.accumulate=2 -s shard.strategy=none; compile -s shard.hold=true -s train.accumulate=2 -s shard.strategy=states; ! compile -s shard.hold=true -s train.accumulate=2
# Holding units between micro-batches needs several of them and a strategy that gathers in each.
==== out
error[E0318]: hold = true needs accumulate > 1
error[E0318]: hold = true needs accumulate > 1
error[E0318]: strategy = none: hold has no effect
error[E0318]: strategy = states: hold has no effect
