# RUN: %python %root/tests/pipeline/memory.py %fsdpc && %python %root/tests/pipeline/memory.py %fsdpc %root/models/gpt2.fsd pp=2,dp=2 train.accumulate=4 train.batch=8
# Of each stage, states, slots and what its layers keep for backward are sums of the plan's types, to the byte: slots are
# min(M, pp - s), M, or min(M v, 2 (pp - s - 1) + (v - 1) pp + 1), with v stages a rank the first of which keeps
# L (1 + (pp - 1) / (pp v)) of L layers. The last stage keeps nothing, so no logits. The peak is that plus what is live.
==== out
pp=4,dp=2 train.accumulate=1 slots 1 1 1 0 unused 0 0 0 0; layers 2 2 2 0
pp=4,dp=2 train.accumulate=2 slots 2 2 2 0 unused 0 0 0 0; layers 4 4 4 0
pp=4,dp=2 train.accumulate=4 slots 4 3 2 0 unused 0 0 0 0; layers 8 6 4 0
pp=2,dp=2 shard.hold=true train.accumulate=2 slots 2 0 unused 0 0; layers 8 0
pp=2,dp=2 shard.hold=true train.accumulate=4 slots 2 0 unused 0 0; layers 8 0
pp=2,dp=4 shard.reshard=2 train.accumulate=4 slots 2 0 unused 0 2560; layers 8 0
pp=4 shard.accumulate=local train.accumulate=8 slots 4 3 2 0 unused 0 0 0 0; layers 8 6 4 0
pp=3 train.precision=bf16 train.accumulate=4 slots 3 2 0 unused 0 0 0; layers 9 6 0
pp=4,dp=2 shard.pipeline=gpipe train.accumulate=2 slots 2 2 2 0 unused 0 0 0 0; layers 4 4 4 0
pp=4,dp=2 shard.pipeline=gpipe train.accumulate=4 slots 4 4 4 0 unused 0 0 0 0; layers 8 8 8 0
pp=2,dp=2 shard.pipeline=interleaved shard.stages=4 train.accumulate=2 slots 4 2 unused 0 0; layers 8 4
pp=2,dp=2 shard.pipeline=interleaved shard.stages=4 train.accumulate=4 slots 5 3 unused 0 0; layers 10 6
pp=2,dp=2 shard.pipeline=interleaved shard.stages=4 train.accumulate=8 slots 5 3 unused 0 0; layers 10 6
pp=4 shard.pipeline=interleaved shard.stages=8 train.accumulate=4 slots 8 8 7 4 unused 0 0 0 0; layers 8 8 7 4
pp=4 shard.pipeline=interleaved shard.stages=8 train.accumulate=8 slots 11 9 7 5 unused 0 0 0 0; layers 11 9 7 5
pp=4 shard.pipeline=interleaved shard.stages=8 train.accumulate=16 slots 11 9 7 5 unused 0 256 256 0; layers 11 9 7 5
pp=2,dp=2 train.batch=8 train.accumulate=4 slots 2 0 unused 0 0
