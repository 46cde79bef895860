# RUN: compile() { %fsdpc compile -s shard.all_reduce=last "$@" %root/tests/passes/model-t.fsd -o %t/p 2>&1 | grep warning; }; compile -n 2 -s train.accumulate=2; compile --mesh rep=2,dp=2; compile --mesh rep=2,dp=2 -s train.accumulate=2 -s shard.accumulate=local; compile --mesh rep=2,dp=2 -s train.accumulate=2 -s shard.strategy=none; compile --mesh rep=4,dp=1 -s train.accumulate=2; ! compile --mesh rep=2,dp=2 -s train.accumulate=2
# all_reduce = last gives a warning if no sum over replicas follows one over shards.
==== out
warning[W0302]: the mesh does not have both replicas and shards: all_reduce has no effect
warning[W0302]: train.accumulate = 1: all_reduce has no effect
warning[W0302]: accumulate = local: all_reduce has no effect
warning[W0302]: strategy = none: all_reduce has no effect
warning[W0302]: the mesh does not have both replicas and shards: all_reduce has no effect
