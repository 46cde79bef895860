# RUN: compile() { %fsdpc compile -n 2 "$@" %root/tests/passes/model-t.fsd -o %t/p 2>&1 | grep 'hold'; }; compile -s shard.hold=true; compile -s shard.hold=true -s shard.reshard=false; compile -s shard.hold=true -s train.accumulate=2 -s shard.strategy=none; compile -s shard.hold=true -s train.accumulate=2 -s shard.strategy=states; ! compile -s shard.hold=true -s train.accumulate=2
# Holding units between micro-batches has no effect without several of them, or a strategy that gathers in each.
==== out
warning[W0302]: train.accumulate = 1: hold has no effect
1 | shard.hold=true
warning[W0302]: train.accumulate = 1: hold has no effect
1 | shard.hold=true
warning[W0302]: strategy = none: hold has no effect
1 | shard.hold=true
warning[W0302]: strategy = states: hold has no effect
1 | shard.hold=true
