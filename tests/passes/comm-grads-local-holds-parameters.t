# RUN: %fsdpc dump --stage=comm -n 4 -s train.accumulate=2 -s shard.strategy=grads -s shard.accumulate=local %root/tests/passes/model-t.fsd 2> /dev/null | grep '^state.*gathered'
# Strategy grads with accumulate = local keeps the gathered parameters between micro-batches.
==== out
state 10 gathered "gathered.u0" f32[24] group 0 split ()
state 12 gathered "gathered.u1" f32[48] group 1 split ()
state 14 gathered "gathered.u2" f32[80] group 2 split ()
state 16 gathered "gathered" f32[36] group 3 split ()
