# RUN: for n in 1 2; do %fsdpc dump --stage=comm -n $n %root/tests/passes/shared-and-frozen.fsd 2>&1 | grep ^note; done; for s in grads none; do %fsdpc dump --stage=comm -n 2 -s shard.strategy=$s %root/tests/passes/shared-and-frozen.fsd 2>&1 | grep ^note; done; %fsdpc dump --stage=train -n 2 %root/tests/passes/shared-and-frozen.fsd | sed 's/strategy = full/strategy = grads/' | %fsdpc opt --pass=wrap,shard,comm - 2>&1 | grep ^note; true
# How often a unit is gathered is reported only if units are sharded and resharded: not for one rank, nor with strategies grads and none.
==== out
note[W0405]: used several times, gathered each time: a
note[W0405]: used several times, kept gathered in between: b
