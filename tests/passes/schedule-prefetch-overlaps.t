# RUN: for k in 0 1; do %fsdpc dump --stage=sched -n 2 -s shard.prefetch=$k %root/tests/passes/model-t.fsd | %python %root/tests/passes/overlap.py --time --comm 1; done
# A gather takes as long as the work of a unit: without prefetch they take turns, with prefetch they run at once.
==== out
train: 16.9
eval: 9.3
train: 13.6
eval: 7.0
