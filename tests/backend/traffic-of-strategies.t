# RUN: %python %root/tests/backend/zero.py %fsdpc traffic
# What a rank sends is 2, 2 and 3 times the model, with the exact (N - 1) / N; replicas send shards besides.
# NEEDS: sanitizer:none
==== out
none: 1.968750 of the model
grads: 1.968750 of the model
states: 1.968750 of the model
full, whose first unit is not gathered for backward: 2.940000 of the model
full, 2 micro-batches: 5.880000 of the model
full, 2 micro-batches added unsharded: 4.895625 of the model
full, resharded in groups of 8: 2.832083 of the model
8 replicas of 8 shards: 2.832083 of the model
the same, 2 micro-batches, replicas at the last: 5.445417 of the model
