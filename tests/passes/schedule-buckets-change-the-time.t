# RUN: t() { echo "$*:" $(for b in unit 81 1MB; do %fsdpc dump --stage=sched -n 2 -s shard.strategy=none -s shard.bucket=$b %root/tests/passes/model-t.fsd | %python %root/tests/passes/overlap.py --time "$@" | grep train; done); }; t --comm 2; t --element 0.05; t --comm 1 --element 0.02
# The edges of a plan, simulated: few buckets are fastest where each collective costs the same,
# many, which overlap, where each element does, and some in between where both do.
==== out
--comm 2: train: 17.6 train: 15.0 train: 15.0
--element 0.05: train: 19.4 train: 20.8 train: 22.8
--comm 1 --element 0.02: train: 17.3 train: 16.7 train: 17.7
