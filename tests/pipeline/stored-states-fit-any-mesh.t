# RUN: %python %root/tests/pipeline/storage.py %fsdpc %fsdp-run
# Checkpoints, --save, --dump-grads, --generate and the tools of checkpoints have the bytes of one stage, and checkpoints
# go on under any number of stages. Test modes find nothing.
# NEEDS: sanitizer:none
# TIME: 60
==== out
dp=2 []: 31 comparisons
rep=2,dp=2 ['shard.strategy=states']: 19 comparisons
dp=2 ['train.optimizer=muon(lr = 0.01)', 'train.precision=bf16']: 19 comparisons
dp=2 ['train.optimizer=adafactor(lr = 0.01)']: 13 comparisons
dp=2,tp=2 []: 19 comparisons
dp=2 ['shard.offload=(states = cpu, params = cpu)']: 13 comparisons
dp=1 []: 25 comparisons
dp=1 ['train.optimizer=adafactor(lr = 0.01)']: 19 comparisons
dp=2 []: 18 comparisons
rep=2,dp=2 ['shard.strategy=states']: 6 comparisons
dp=2,tp=2 []: 6 comparisons
dp=2 ['train.precision=bf16', 'shard.offload=(states = cpu, params = cpu)']: 6 comparisons
