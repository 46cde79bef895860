# RUN: for k in 0 1 2 3; do %fsdpc dump --stage=sched -n 2 -s shard.prefetch=$k -s shard.inflight=4 %root/tests/passes/model-t.fsd | %python %root/tests/passes/overlap.py; done
# If each stream runs its list, only edges keep a gather from running further ahead than prefetch allows.
==== out
train: A:r@start A:u0@F:u0 A:u1@F:u1 A:u2@F:u2 A:u2@B:u2 A:u1@B:u1 A:u0@B:u0
eval: A:r@start A:u0@F:u0 A:u1@F:u1 A:u2@F:u2
train: A:r@start A:u0@start A:u1@F:u0 A:u2@F:u1 A:u2@B:r A:u1@B:u2 A:u0@B:u1
eval: A:r@start A:u0@start A:u1@F:u0 A:u2@F:u1
train: A:r@start A:u0@start A:u1@start A:u2@F:u0 A:u2@B:r A:u1@B:r A:u0@B:u2
eval: A:r@start A:u0@start A:u1@start A:u2@F:u0
train: A:r@start A:u0@start A:u1@start A:u2@start A:u2@B:r A:u1@B:r A:u0@B:r
eval: A:r@start A:u0@start A:u1@start A:u2@start
