# RUN: %python %root/tests/backend/view.py %fsdpc %root/tests/passes/model-t.fsd '-n 1' '-n 2' '-n 2 -s train.precision=bf16' '-n 4 -s shard.strategy=grads -s train.accumulate=3' '-n 2 -s shard.strategy=none' '-n 2 -s train.accumulate=2 -s shard.accumulate=local' '-n 3 -s shard.unit=Linear -s shard.prefetch=3 -s shard.inflight=4' '-n 2 -s train.clip=1 -s train.optimizer=adamw(lr=0.1)'
# RUN: %python %root/tests/backend/view.py %fsdpc %root/models/gpt2.fsd '-n 1' '-n 8' '-n 2 -s shard.unit=Linear' '-n 2 -s shard.unit=root'
# Unfolded, the view has each instruction once with its op; its lives and parts are the plan's.
# NEEDS: sanitizer:none
==== out
8 plans, 0 shown wrongly
4 plans, 0 shown wrongly
