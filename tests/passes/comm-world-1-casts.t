# RUN: %fsdpc dump --stage=comm -n 1 %root/tests/passes/model-t.fsd | grep -c ' cast(' || true
# RUN: %fsdpc dump --stage=comm -n 1 -s shard.cast=gather -s train.precision=bf16 %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/p' | grep -c ' cast('
# On one rank in bf16 the flat parameter is a cast of the state, in f32 the state itself.
==== out
0
7
