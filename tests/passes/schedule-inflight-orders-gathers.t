# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 -s shard.inflight=1 %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/s/.*unshard(%[0-9]*, %.*/token/p' | uniq -c
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 -s shard.inflight=2 %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/s/.*unshard(%[0-9]*, %.*/token/p' | uniq -c
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 -s shard.inflight=3 %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/s/.*unshard(%[0-9]*, %.*/token/p' | uniq -c
# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=0 -s shard.inflight=6 %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/s/.*unshard(%[0-9]*, %.*/token/p' | uniq -c
# A gather takes the token of the reshard that makes room for it; more room, later tokens, fewer of them.
==== out
      5 token
      4 token
      3 token
